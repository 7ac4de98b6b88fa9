"""The end of a run was lost: gaps.py URL PEER."""
import sys

from browser import Browser

url, peer = sys.argv[1:]

with Browser() as browser:
    browser.goto(f"{url}/#health")
    browser.wait("document.getElementById('health').innerText.includes('Missing readings')")
    cells = browser.eval("""[...document.querySelectorAll("#health table")].find((one) =>
        one.caption.innerText.startsWith("Missing")).rows[1].innerText.split("\\t")""")
    assert cells[0] == "a" and cells[1].startswith("20") and cells[2] == "its end", cells
    assert cells[3] == "unknown" and cells[4] == "power cut or kill", cells
    browser.goto(f"{url}/#chart?c={peer}%2Fcount&range=hour")
    browser.wait("document.querySelectorAll('#chart .gap').length === 1", what="no gap in the chart")
    assert float(browser.eval("document.querySelector('#chart .gap').getAttribute('width')")) >= 3
    assert "(power cut or kill)" in browser.text("#summary"), browser.text("#summary")
    assert browser.poor_contrast() == [], browser.poor_contrast()
    assert browser.complaints == [], browser.complaints
