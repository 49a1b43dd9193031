#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Key messages with keys from keyrings, in a keyring of this process alone.

usage: key-messages.py TARGET DEVICE
"""
import sys

import dm

TARGET, DEVICE = sys.argv[1:3]
NAME = "ring"
tap = dm.Tap()


def step(name, want, what, *args):
    """want: "" or an errno name."""
    try:
        what(*args)
        got = ""
    except OSError as e:
        got = dm.errname(e)
    tap.result(got == want, name, f"got {got or 'success'}, expected {want or 'success'}")


def main():
    if not dm.new_session_keyring():
        tap.skip("keyring keys", "this kernel has no keyrings")
        return
    dm.add_key("logon", "fd:one", bytes(range(64)))
    dm.add_key("user", "two", bytes(range(64, 128)))
    dm.add_key("user", "short", bytes(32))
    dm.create(NAME)
    text = f"0 8 {TARGET} aes-xts-plain64 :64:logon:fd:one 0 {DEVICE} 0"
    step("a table with a logon key", "", dm.load, NAME, text)
    step("resumes", "", dm.resume, NAME)
    dm.suspend(NAME)
    step("key wipe", "", dm.message, NAME, "key wipe")
    tap.result(":logon:" not in dm.table(NAME, inactive=False),
               "the table does not name the wiped key",
               dm.table(NAME, inactive=False))
    step("no resume without a key", "EAGAIN", dm.resume, NAME)
    for bad, err in ((":64:user:none", "ENOKEY"), (":64:bogus:two", "EINVAL"),
                     (":32:user:two", "EINVAL"), (":64:user:short", "EINVAL"),
                     (":32:user:short", "EINVAL"), (":64:user", "EINVAL")):
        step(f"key set {bad}", err, dm.message, NAME, f"key set {bad}")
    step("still no resume", "EAGAIN", dm.resume, NAME)
    step("key set :64:user:two", "", dm.message, NAME, "key set :64:user:two")
    step("resumes with it", "", dm.resume, NAME)
    tap.result(" :64:user:two " in dm.table(NAME, inactive=False),
               "the table names it", dm.table(NAME, inactive=False))


try:
    main()
finally:
    dm.remove_all()
sys.exit(tap.done())
