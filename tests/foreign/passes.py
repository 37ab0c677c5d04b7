"""Tokens that Akamai's own library makes for /final/*: a JSON list."""

import json

from akamai.edgeauth import EdgeAuth

KEY = "52a152a152a152a152a152a152a1aabbccddeeff"

tokens = [
    EdgeAuth(key=KEY, window_seconds=300).generate_acl_token("/final/*"),
    EdgeAuth(key=KEY, start_time="now", window_seconds=300).generate_acl_token(["/semi/*", "/final/*"]),
    EdgeAuth(key=KEY, window_seconds=300, session_id="s 1", payload="a=b&c", escape_early=True).generate_acl_token("/final/*"),
]
print(json.dumps(tokens))
