// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// host_mlua SCRIPT...: a Rust program that runs Luau by the crate mlua, which compiles all functions
// to machine code. Each script has a VM of its own. All of them take turns on one thread: pause(),
// an async function, lets the others go on. spawn() and shift() are functions of Rust that take a
// time in proportion to their argument.
use std::{env::args, fs::read_to_string, future::poll_fn, hint::black_box, task::Poll};

use futures::{executor::block_on, future::try_join_all};
use mlua::{Lua, Result};

async fn pause(_: Lua, _: ()) -> Result<()> {
    let mut is_over = false;

    poll_fn(|context| {
        if is_over {
            return Poll::Ready(Ok(()));
        }
        is_over = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

fn count(rounds: u32) -> f64 {
    (0..rounds).fold(0.0, |sum, i| black_box(sum + f64::from(i)))
}

async fn run(path: String) -> Result<()> {
    let lua = Lua::new();
    let globals = lua.globals();

    globals.set("pause", lua.create_async_function(pause)?)?;
    globals.set("spawn", lua.create_function(|_, n| Ok(count(n)))?)?;
    globals.set("shift", lua.create_function(|_, n| Ok(-count(n)))?)?;
    lua.load(read_to_string(&path)?)
        .set_name(format!("@{path}"))
        .exec_async()
        .await
}

fn main() -> Result<()> {
    block_on(try_join_all(args().skip(1).map(run))).map(|_| ())
}
