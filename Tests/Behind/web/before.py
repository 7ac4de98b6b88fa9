"""A board that was silent before the collector started: before.py URL PEER THEN, a time at which
it was there."""
import sys

from browser import Browser

url, peer, then = sys.argv[1:]

with Browser() as browser:
    browser.goto(url)
    browser.wait("document.querySelectorAll('.card').length === 2", what="two cards")
    browser.wait("document.getElementById('state').innerText === '1 of 2 nodes online'")
    card = f"#node-{peer}"
    browser.wait(f"document.querySelector('{card}').classList.contains('silent')")
    text = browser.wait(f"document.querySelector('{card}').innerText.includes('21.5') "
                        f"&& document.querySelector('{card}').innerText")
    assert "silent, " in text and " ago" in text and "count" in text, text
    # A card that changes its place keeps the focus.
    browser.eval(f"document.querySelector('{card} .channels button').focus()")
    for order, first in (("age", "b"), ("name", "a"), ("age", "b")):
        browser.eval(f"""(() => {{ const list = document.getElementById("order"); list.value = "{order}";
            list.dispatchEvent(new Event("change")); }})()""")
        assert browser.eval("document.querySelector('.card h3').textContent") == first
        assert browser.eval(f"document.activeElement.closest('{card}') !== null"), "the focus is lost"
    browser.eval(f"[...document.querySelectorAll('{card} .channels button')]"
                 ".find((one) => one.innerText.includes('bench')).click()")
    browser.wait("document.getElementById('summary').innerText.includes('mean 21.50')", what="no chart of it")
    assert browser.text("#chart-title") == "b · bench"

    # In the mesh it is silent now, and was not then; everybody has a name, the collector too.
    browser.goto(f"{url}/#mesh")
    browser.wait("document.querySelectorAll('#mesh g').length === 3")
    assert browser.eval("[...document.querySelectorAll('#mesh .silent .name')].map((one) => one.textContent)") == ["b"]
    browser.goto(f"{url}/#mesh?at={then}")
    browser.wait("document.getElementById('mesh-when').innerText.includes('2 links')")
    browser.wait("document.querySelectorAll('#mesh line').length === 2")
    assert browser.eval("document.querySelectorAll('#mesh .silent').length") == 0
    cells = browser.eval("[...document.querySelectorAll('#links tbody tr')].map((row) =>"
                         "[row.cells[0].textContent, row.cells[1].textContent].sort().join(' '))")
    assert sorted(cells) == ["a c", "b c"], cells
    # Before anybody was there nobody is drawn but the collector.
    browser.goto(f"{url}/#mesh?at={int(then) - 86_400_000}")
    browser.wait("document.getElementById('mesh-when').innerText.includes('nothing is known')")
    browser.wait("document.querySelectorAll('#mesh g').length === 1")
    assert browser.complaints == [], browser.complaints
