"""A chart of known values: chart.py URL PEER LEAST GREATEST COUNT of channel `count`; `bench` is always 21.5 °C."""
import re
import sys

from browser import Browser

url, peer, least, greatest, count = sys.argv[1:]

with Browser() as browser:
    browser.goto(f"{url}/#chart?c={peer}%2Fcount&range=hour")
    browser.wait("document.getElementById('summary').innerText.includes('readings')")
    summary = browser.text("#summary")
    for words in (f"minimum {least},", f"maximum {greatest};", f"; {count} readings"):
        assert words in summary, f"{words} is not in {summary}"
    assert browser.text("#chart-title") == "a · count"
    assert browser.eval("document.querySelectorAll('#chart .mean').length") >= 1
    # What is drawn reaches from the least to the greatest: the line rises from left to right.
    path = browser.eval("document.querySelector('#chart .mean').getAttribute('d')")
    heights = [float(part.split()[1]) for part in re.split("[ML]", path)[1:]]
    assert heights[0] > heights[-1], path
    assert all(one >= other - 0.2 for one, other in zip(heights, heights[1:])), "counting never falls"

    # A second channel over it, of another unit: two scales.
    browser.eval("""(() => { const list = document.getElementById("add");
        list.value = [...list.options].find((one) => one.text === "bench").value;
        list.dispatchEvent(new Event("change")); })()""")
    browser.wait("document.getElementById('summary').innerText.includes('mean 21.50')")
    browser.wait("document.querySelectorAll('#series li').length === 2")
    assert "21.5 °C" in browser.text("#series")
    assert "°C" in browser.eval("document.querySelector('#chart svg').textContent")

    # The table says the same.
    browser.eval("document.getElementById('table-box').open = true")
    assert "21.5" in browser.text("#table") and "greatest" in browser.text("#table")

    # Zoom by dragging over the right half, back with 0, in and along with keys.
    box = browser.box("#chart svg")
    browser.drag(box["x"] + box["width"] / 2, box["y"] + 100, box["x"] + box["width"] - 80)
    browser.wait("/from=\\d+&to=\\d+/.test(location.hash)", what="dragging does not zoom")
    first = [int(one) for one in browser.eval("location.hash.match(/\\d{13}/g)")]
    assert 1_200_000 < first[1] - first[0] < 2_000_000, first
    browser.eval("document.querySelector('#chart svg').focus()")
    browser.key("+", "+")
    browser.wait(f"Math.abs(location.hash.match(/\\d{{13}}/g)[1] - location.hash.match(/\\d{{13}}/g)[0] "
                 f"- {(first[1] - first[0]) // 2}) < 10", what="+ does not zoom")
    before = int(browser.eval("location.hash.match(/\\d{13}/g)[0]"))
    browser.key("ArrowLeft")
    browser.wait(f"Number(location.hash.match(/\\d{{13}}/g)[0]) < {before}", what="an arrow does not move")
    browser.key("0", "0")
    browser.wait("location.hash.includes('range=hour')", what="0 does not go back")
    for name in ("Day", "Week", "Month"):
        browser.eval(f"document.querySelector('[data-range={name.lower()}]').click()")
        browser.wait(f"document.querySelector('[data-range={name.lower()}]').ariaPressed === 'true'")
        browser.wait(f"document.getElementById('summary').innerText.includes('{count} readings')", 30,
                     f"{name} shows other readings")
    assert browser.complaints == [], browser.complaints
