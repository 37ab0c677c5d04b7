"""uWebSockets through its Python binding: the bar for memory. Every socket is subscribed to one topic."""

import sys

from socketify import App, AppListenOptions, CompressOptions


def opened(ws):
    ws.subscribe("m0")


app = App()
app.ws(
    "/*",
    {
        "compression": CompressOptions.DISABLED,
        "max_payload_length": 4096,
        # The longest that it takes: sockets stay idle while we measure.
        "idle_timeout": 960,
        "send_pings_automatically": False,
        "open": opened,
    },
)
app.listen(AppListenOptions(port=int(sys.argv[1]), host="127.0.0.1"))
app.run()
