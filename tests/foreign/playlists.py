"""Reads playlists with m3u8 and prints what it saw as JSON: playlists.py FILE…"""

import json
import sys

import m3u8

seen = []
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        playlist = m3u8.loads(file.read())
    if playlist.is_variant:
        seen.append({
            "master": True,
            "variants": [
                {
                    "uri": v.uri,
                    "bandwidth": v.stream_info.bandwidth,
                    "average": v.stream_info.average_bandwidth,
                    "codecs": v.stream_info.codecs,
                    "frame_rate": v.stream_info.frame_rate,
                }
                for v in playlist.playlists
            ],
            "languages": [m.language for m in playlist.media],
        })
        continue
    seen.append({
        "master": False,
        "target": playlist.target_duration,
        "sequence": playlist.media_sequence,
        "part_target": playlist.part_inf.part_target,
        "can_block_reload": playlist.server_control.can_block_reload,
        "hint": playlist.preload_hint.uri if playlist.preload_hint else None,
        "segments": [
            {"uri": s.uri, "duration": s.duration, "pdt": s.program_date_time.isoformat(), "parts": len(s.parts)}
            for s in playlist.segments
            if s.uri
        ],
    })
json.dump(seen, sys.stdout)
