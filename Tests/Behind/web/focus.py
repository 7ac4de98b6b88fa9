"""A chart that goes on while somebody is at it: focus.py URL PEER."""
import sys

from browser import Browser

url, peer = sys.argv[1:]


def redrawn(browser):
    """Twice, so that whatever is written again has been."""
    browser.eval("window.turns = 0")
    browser.wait("turns >= 2", 60, "the chart is not drawn again")


with Browser() as browser:
    browser.goto(f"{url}/#chart?c={peer}%2Fcount&c={peer}%2Fbench&range=hour")
    browser.wait("document.getElementById('summary').innerText.includes('readings')")
    browser.eval("""new MutationObserver(() => { turns += 1; })
        .observe(document.querySelector("#chart svg"), {childList: true})""")
    browser.eval("document.getElementById('table-box').open = true")
    browser.wait("document.getElementById('table').scrollHeight > 420", 90, "the table has no rows")

    # Nobody is at them: the times go along.
    before = browser.eval("document.getElementById('to').value")
    redrawn(browser)
    assert browser.eval("document.getElementById('to').value") > before

    # Somebody types, here, and goes on to the next field.
    browser.eval("document.getElementById('from').focus()")
    browser.key("0", "0")
    browser.key("2", "2")
    typed = browser.eval("document.getElementById('from').value")
    redrawn(browser)
    assert browser.eval("document.activeElement.id") == "from"
    assert browser.eval("document.getElementById('from').value") == typed, "typed over"
    browser.eval("""(() => { const field = document.getElementById("from"); field.value = "2026-01-02T03:04:05";
        field.dispatchEvent(new Event("input", {bubbles: true})); field.blur(); })()""")
    browser.eval("document.querySelector('#series a').focus()")
    browser.eval("document.getElementById('table').scrollTop = 50")
    redrawn(browser)
    assert browser.eval("document.getElementById('from').value") == "2026-01-02T03:04:05"
    assert browser.eval("document.activeElement.matches('#series li:first-child a')"), "the focus is lost"
    assert browser.eval("document.getElementById('table').scrollTop") == 50

    # What was not said yet is dropped with another time, and the link has the new one.
    link = browser.eval("document.activeElement.href")
    browser.eval("document.querySelector('[data-range=day]').click()")
    browser.wait("document.getElementById('from').value !== '2026-01-02T03:04:05'")
    browser.wait(f"document.querySelector('#series li:first-child a').href !== '{link}'")

    # Whoever removes a channel by keys goes on with the next.
    browser.eval("document.querySelector('#series li:first-child button').focus()")
    browser.key("Enter")
    browser.wait("document.querySelectorAll('#series li').length === 1")
    assert browser.eval("document.activeElement.matches('#series button')")

    # In Health, too.
    browser.size(600, 300)
    browser.eval("location.hash = '#health'")
    browser.wait("document.querySelector('#health p')?.innerText.includes('readings received')")
    browser.eval("window.kept = document.querySelector('#health p')")
    text = browser.text("#health p")
    browser.wait(f"document.querySelector('#health p').innerText !== {text!r}", 30)
    assert browser.eval("document.querySelector('#health p') === kept"), "what is read is made anew"
    assert browser.complaints == [], browser.complaints
