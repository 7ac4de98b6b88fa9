"""Two agents as a browser shows them: seen.py URL HOSTILE-NAME."""
import sys

from browser import Browser, until

url, hostile = sys.argv[1:]


def number(browser):
    rows = browser.eval("""[...document.querySelectorAll(".channels button")]
        .map((row) => [row.querySelector(".name").innerText, row.querySelector(".value").innerText])""")
    return next((int(value) for name, value in rows if name == "count" and value.isdigit()), None)


with Browser() as browser:
    browser.goto(url)
    browser.wait("document.querySelectorAll('.card').length === 2", what="two cards")
    browser.wait("document.querySelectorAll('.channels .value').length >= 4", what="four channels")
    text = browser.text("#cards")
    for words in ("21.5 °C", hostile, "48.25 %RH", "failed", "<b>site</b> \"north\" & 'south'"):
        assert words in text, f"{words} is not in {text}"
    assert browser.text("#network") == "lab"
    assert "2 of 2" in browser.wait("document.getElementById('state').innerText.includes('2 of 2') "
                                    "&& document.getElementById('state').innerText")
    # Names became no elements.
    assert browser.eval("document.querySelectorAll('img, b').length") == 0
    assert browser.eval("document.title") == "lab · Rivulet"

    # Live.
    first = until(lambda: number(browser), 20, "no counter")
    until(lambda: (number(browser) or 0) >= first + 5, 20, "the counter does not move")

    # Lines of the last hour.
    browser.wait("[...document.querySelectorAll('.spark path')].some((one) => one.getAttribute('d'))", 90,
                 "no line on a card")

    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        for width in (360, 1280):
            browser.size(width, 740, width == 360)
            for view in ("nodes", "mesh", "health"):
                browser.eval(f"location.hash = '#{view}'")
                browser.wait(f"!document.getElementById('view-{view}').hidden")
                assert browser.too_wide() == [], (scheme, width, view, browser.too_wide())
                assert browser.poor_contrast() == [], (scheme, width, view, browser.poor_contrast())
                assert browser.eval("document.documentElement.scrollWidth <= innerWidth"), (width, view)

    # By keyboard alone: to the first channel, and into its chart.
    browser.size(1280, 900)
    browser.eval("location.hash = '#nodes'")
    browser.wait("!document.getElementById('view-nodes').hidden")
    browser.eval("document.getElementById('order').focus()")
    browser.key("Tab")
    assert browser.eval("document.activeElement.closest('.channels') !== null")
    browser.key("Enter")
    browser.wait("location.hash.startsWith('#chart') && document.activeElement.id === 'main'")

    # For a screen reader: landmarks, names, and what changes is said politely.
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = {node.get("role", {}).get("value") for node in tree}
    assert {"banner", "main", "navigation", "status"} <= roles, roles
    nameless = [node["nodeId"] for node in tree if not node.get("ignored")
                and node.get("role", {}).get("value") in ("button", "link", "textbox", "combobox", "slider")
                and not node.get("name", {}).get("value")]
    assert nameless == [], nameless
    assert browser.eval("document.querySelector('[aria-live=polite]') !== null")

    # Nothing from elsewhere, nothing kept, nobody complained.
    # (Chromium's own icons in its own inputs are data.)
    foreign = [one for one in browser.requests if not one.startswith((url, "data:"))]
    assert foreign == [], foreign
    assert browser.call("Network.getCookies")["cookies"] == []
    assert browser.complaints == [], browser.complaints
    # The policy holds: markup that got in somehow would do nothing.
    assert browser.eval("""(() => {
        try { document.body.innerHTML += "x"; return false; } catch { return true; } })()""")
