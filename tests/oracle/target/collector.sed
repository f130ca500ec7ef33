# Of lgc.c: what runs the collector says so, and the call of a finalizer says that it is none.
s/^(void|int) luaC_(step|fullgc|forcestep) \(.*\) \{$/&  COLLECTOR_RUNS;/
s/^(    status = )(luaD_pcall\(L, dothecall, .*\));$/\1COLLECTOR_WAITS(\2);/
s/^    luaD_call\(L, L->top - 2, 0\);$/    COLLECTOR_WAITS((luaD_call(L, L->top - 2, 0), 0));/
/^(size_t|void) luaC_(step|fullgc)\(lua_State\* L.*\)$/{n;s/^\{/& COLLECTOR_RUNS;/}
1s/^/#include "collector.h"\n/
