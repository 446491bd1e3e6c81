"""The widget of notebooks in a real browser, alone and as VS Code shows it, by anywidget's own front end.

VS Code itself is not run: it cannot be installed where these tests run. What it does to a widget is imitated: the cell
is a sandboxed frame of its own origin; the front end of anywidget is loaded with `define`, as the Jupyter extension
does; and the frame has no content security policy or, with the setting `notebook.experimental.enableCsp`, that below.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedlab.schedule.schedule import Schedule

anywidget = pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")

ORIGIN = "https://cell.test"

SANDBOX = "allow-same-origin allow-pointer-lock allow-scripts allow-downloads allow-forms"

VSCODE = "'self' https://*.vscode-cdn.net"

POLICY = (
    f"default-src 'none'; script-src {VSCODE} 'unsafe-inline' 'unsafe-eval' blob:; style-src {VSCODE} 'unsafe-inline'; "
    f"img-src {VSCODE} https: http: data:; font-src {VSCODE} https:; connect-src https:; child-src https: data:"
)
"""That of a VS Code notebook with the setting, and `blob:`, without which anywidget loads no widget at all."""

FRAME = f"""<!doctype html><iframe src="{ORIGIN}/cell" sandbox="{SANDBOX}" style="width: 900px; height: 1200px"
allow="cross-origin-isolated; autoplay; clipboard-read; clipboard-write"></iframe>"""

CELL = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>cell</title>{policy}<script>
window.violations = [];
addEventListener("securitypolicyviolation", ({{ violatedDirective, blockedURI }}) =>
  violations.push(`${{violatedDirective}} ${{blockedURI}}`));
window.define = (needs, make) => (window.anywidget = make);
</script><script src="/anywidget.js"></script></head><body><div id="cell"></div></body></html>"""

SHOW = """async ({ state, data }) => {
  // What anywidget uses of the classes of ipywidgets.
  class DOMWidgetModel {
    constructor(state) { this.state = state; this.initialize(); }
    initialize() {}
    get(name) { return this.state[name]; }
    set() {}
    save_changes() {}
    send() {}
    on() {}
    once() {}
    off() {}
  }
  class DOMWidgetView {
    constructor(model, el) { Object.assign(this, { model, el, $el: { empty: () => el.replaceChildren() } }); }
    remove() {}
  }
  const { AnyModel, AnyView } = window.anywidget({ DOMWidgetModel, DOMWidgetView });
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const model = new AnyModel({ ...state, data: new DataView(bytes.buffer) });
  await new AnyView(model, document.getElementById("cell")).render();
}"""

OPENED = "document.querySelector('#cell > div')?.shadowRoot?.querySelector('.sl-canvas')"


def front_end() -> str:
    """Return the script that anywidget gives to notebooks which load with `define`."""
    return (Path(anywidget.__file__).parent / "nbextension" / "index.js").read_text(encoding="utf-8")


@pytest.fixture
def shown(
    browser: Any, request: pytest.FixtureRequest, schedules: dict[str, Schedule]
) -> Iterator[tuple[Any, Any, Any]]:
    """A widget in a cell: its frame, the page around it, and what was complained of."""
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' if request.param else ""
    context = browser.new_context(viewport={"width": 1_000, "height": 1_300})
    context.set_default_timeout(60_000)
    answers = {
        f"{ORIGIN}/": (FRAME, "text/html"),
        f"{ORIGIN}/cell": (CELL.format(policy=policy), "text/html"),
        f"{ORIGIN}/anywidget.js": (front_end(), "text/javascript"),
    }
    asked: list[str] = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        body, kind = answers.get(route.request.url, ("", "text/plain"))
        route.fulfill(body=body, content_type=kind)

    context.route("**/*", answer)
    page = context.new_page()
    complaints: list[str] = []
    # Chromium complains of the sandbox that VS Code chose, whatever stands in it.
    page.on("console", lambda message: "escape its sandboxing" in message.text or complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{ORIGIN}/")
    frame = page.frame(url=f"{ORIGIN}/cell")
    frame.wait_for_function("Boolean(window.anywidget)")
    widget = schedules["scheduler 0"].explore()
    state = {name: getattr(widget, name) for name in ("_esm", "_anywidget_id", "index", "definitions")}
    frame.evaluate(SHOW, {"state": state, "data": base64.b64encode(widget.data).decode()})
    frame.wait_for_function(f"Boolean({OPENED})")
    yield frame, page, complaints
    context.close()
    assert set(asked) <= set(answers)


@pytest.mark.parametrize("shown", [False, True], indirect=True, ids=["as usual", "with a policy"])
def test_it_needs_nothing_that_a_notebook_of_vs_code_forbids(shown: tuple[Any, Any, Any]) -> None:
    frame, page, complaints = shown
    frame.locator(".sl-canvas").focus()
    page.keyboard.press("+")
    page.keyboard.press(".")
    assert frame.locator(".sl-job h3").inner_text().startswith("Job ")
    frame.get_by_role("button", name="Wait", exact=True).first.click()
    assert "submission to its start" in frame.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    search = frame.get_by_role("searchbox", name="Search")
    search.fill("size>2")
    search.press("Enter")
    assert "jobs found" in frame.locator(".sl-found").inner_text()
    frame.get_by_role("combobox", name="Colour").select_option(label="Wait")
    for part in (".sl-series", ".sl-distributions", ".sl-jobs"):
        frame.locator(part).scroll_into_view_if_needed()
    frame.locator(".sl-distributions table").wait_for()
    copy = frame.locator(".sl-jobs").get_by_role("button", name="Copy as CSV")
    copy.click()
    frame.locator(".sl-jobs").get_by_text("Copied").wait_for()
    painted = frame.locator(".sl-canvas").evaluate(
        "canvas => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
        ".data.buffer)).size"
    )
    assert painted > 3
    assert frame.evaluate("location.hash") == ""
    assert frame.evaluate("violations") == []
    assert complaints == []


@pytest.mark.parametrize("shown", [True], indirect=True, ids=["with a policy"])
def test_the_policy_is_in_force(shown: tuple[Any, Any, Any]) -> None:
    frame, _, complaints = shown
    frame.evaluate("fetch('http://elsewhere.test/').catch(() => null)")
    frame.wait_for_function("violations.length")
    assert frame.evaluate("violations[0]").startswith("connect-src")
    assert any("Content Security Policy" in text for text in complaints)
