"""Values, units and many alarms: values.py URL PEER."""
import sys

from browser import Browser

url, peer = sys.argv[1:]
names = ["warm", "disk", "air", "damp"]

with Browser(360, 740) as browser:
    browser.goto(url)
    browser.wait("document.querySelectorAll('.channels .value').length === 7")
    text = browser.text("#cards")
    for words in ("72.5 °F", "67.39 GiB", "101325 Pa", "44 %RH", "1234567890.12"):
        assert words in text, f"{words} is not in {text}"
    # No number is broken.
    broken = browser.eval("""[...document.querySelectorAll(".channels .value")].filter((one) => {
        const range = document.createRange();
        range.selectNodeContents(one.firstChild);
        return range.getClientRects().length !== 1;
    }).map((one) => one.innerText)""")
    assert broken == [], broken

    # The first five alarms, and where the others are.
    banners = browser.eval("[...document.querySelectorAll('#alarms > *')].map((one) => one.innerText)")
    assert len(banners) == 6 and banners[5] == "2 more in Health", banners
    assert browser.eval("document.querySelector('.card').getBoundingClientRect().top < 740")
    browser.wait("document.getElementById('announcer').innerText.endsWith('2 more alarms')")
    browser.click("#alarms a")
    browser.wait("!document.getElementById('view-health').hidden")
    browser.wait("document.querySelectorAll('#health tbody tr').length >= 7")

    # Four units in one chart.
    query = "&".join(f"c={peer}%2F{name}" for name in names)
    browser.goto(f"{url}/#chart?{query}&range=hour")
    browser.wait("document.querySelectorAll('#chart .mean').length === 4")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        for width in (360, 1280):
            browser.size(width, 740, width == 360)
            browser.wait(f"document.querySelector('#chart svg').clientWidth > {width} * 0.8")
            assert browser.too_wide() == [], (scheme, width, browser.too_wide())
            assert browser.poor_contrast() == [], (scheme, width, browser.poor_contrast())
            # Nothing of an axis is cut off.
            cut = browser.wait("""(() => {
                const all = document.querySelector("#chart svg").getBoundingClientRect();
                const texts = [...document.querySelectorAll("#chart text")];
                return texts.length > 5 && texts.every((one) => {
                    const box = one.getBoundingClientRect();
                    return box.left >= all.left && box.right <= all.right + 1;
                });
            })()""", what=f"an axis is cut off at {width}")
            assert cut
    assert browser.eval("[...document.querySelectorAll('#chart .unit')].map((one) => one.textContent)") == ["°F", "GiB"]
    # What never changes lies at different heights, in different dashes.
    heights = browser.eval("""[...document.querySelectorAll("#chart .mean")].map((one) =>
        Math.round(Number(one.getAttribute("d").match(/^M[\\d.]+ ([\\d.]+)/)[1])))""")
    assert min(abs(one - other) for at, one in enumerate(heights) for other in heights[:at]) > 20, heights
    dashes = browser.eval("[...document.querySelectorAll('#chart .mean')].map((one) =>"
                          "getComputedStyle(one).strokeDasharray)")
    assert len(set(dashes)) == 4, dashes
    legend = browser.eval("[...document.querySelectorAll('#series li')].map((one) => one.innerText)")
    for words, line in zip(("(left axis, °F)", "(right axis, GiB)", " Pa)", " %RH)"), legend):
        assert words in line, legend
    summary = browser.text("#summary")
    assert "67.39 GiB" in summary and "72.5 °F" in summary, summary

    # A finger's touch shows what is there, and it stays.
    box = browser.box("#chart svg")
    x, y = box["x"] + box["width"] / 2, box["y"] + 100
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.wait("document.querySelector('#chart .cross') !== null", what="a touch shows nothing")

    # Times that there are not.
    for times in ("from=-1e15&to=1e13", "from=1&to=9e99", "from=x&to=y", "from=0&to=253402300799999", "from=5&to=4"):
        browser.goto("about:blank")
        browser.goto(f"{url}/#chart?c={peer}%2Fwarm&{times}")
        browser.wait("document.getElementById('summary').innerText.includes('readings')", what=times)
        assert browser.eval("document.querySelector('[data-range=hour]').ariaPressed") == "true", times
    browser.goto("about:blank")
    browser.goto(f"{url}/#chart?c={peer}%2Fwarm&from=0&to=7000000000000")
    browser.wait("document.getElementById('summary').innerText.includes('readings')", what="two hundred years")
    assert "NaN" not in browser.text("body") and "1970" in browser.text("#summary")
    browser.goto("about:blank")
    browser.goto(f"{url}/#mesh?at=1e300")
    browser.wait("document.getElementById('mesh-when').innerText.startsWith('now')")
    assert browser.complaints == [], browser.complaints
