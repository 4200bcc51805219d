"""Flame graph for notebooks: that of the program, in a frame of its own."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from ._errors import UnwindPerfError
from ._options import checked
from ._program import Run, input_arguments, options_argument

if TYPE_CHECKING:
    from ._recording import Recording

# Largest height of the frame in pixels; a higher picture scrolls.
_HIGHEST = 640
_FIELD = 40

# Frames of notebooks have no address to keep the state in, and some notebooks have no dialogs. So the page has a field for
# the search, which the picture's own button would ask for in a dialog.
_PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><style>
body {{ margin: 0; font: 12px sans-serif }} #search, #matched {{ display: none }}
</style><script>history.replaceState = function () {{}};</script></head><body>
<input id="wanted" size="40" placeholder="search functions (a regular expression)"> <output id="share"></output>
{svg}<script>
document.getElementById("wanted").addEventListener("input", function (event) {{
  var share = document.getElementById("share"), term = event.target.value;
  reset_search();
  searching = 0;
  share.value = "";
  if (!term) return;
  try {{
    matchedtxt.firstChild.nodeValue = "";
    search(term);
    share.value = matchedtxt.firstChild.nodeValue || "no match";
  }} catch (error) {{
    share.value = error.message;
  }}
}});
</script></body></html>"""


def flame_graph(recording: "Recording") -> str:
    """Returns the functions of the first event with samples as HTML, the outermost at the top. A click zooms.

    The program reads the recording again. If it fails, the HTML has its message.
    """
    title = escape(repr(recording))
    try:
        svg = _svg(recording)
    except UnwindPerfError as error:
        return f"<div><div>{title}</div><div>{escape(error.message)}</div></div>"
    found = re.search(r'<svg[^>]* height="(\d+)"', svg)
    height = min(int(found.group(1)) if found else _HIGHEST, _HIGHEST) + _FIELD
    page = escape(_PAGE.format(svg=svg))
    frame = f'<iframe srcdoc="{page}" style="width:100%;height:{height}px;border:0"></iframe>'
    return f"<div><div>{title}</div>{frame}</div>"


def _svg(recording: "Recording") -> str:
    """Returns the picture of ``unwind-perf flamegraph`` without the declarations of a file."""
    command = ["flamegraph", "--quiet", "--inverted", "--no-open", options_argument(), *input_arguments(recording.path)]
    with Run(command, options=checked(recording.options)) as run:
        text = run.output.read().decode("utf-8", "replace")
        run.finish()
    return text[text.find("<svg") :]
