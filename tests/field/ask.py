#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ask.py SOCKET PATH: asks an HTTP server for PATH again and again, until it is killed.
Says "answered" after the first answer."""

import socket
import sys


def main():
    request = f"GET {sys.argv[2]} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    answered = False
    while True:
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(sys.argv[1])
            try:
                while server.sendall(request) is None and server.recv(65536):
                    if not answered:
                        print("answered", flush=True)
                    answered = True
            except OSError:
                pass


main()
