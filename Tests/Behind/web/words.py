"""The chart of a channel that is called otherwise here: words.py URL PEER."""
import sys

from browser import Browser

url, peer = sys.argv[1:]

with Browser() as browser:
    browser.goto(url)
    browser.wait("[...document.querySelectorAll('.channels .name')].some((one) => one.innerText === 'warmth')")
    browser.wait("[...document.querySelectorAll('.channels button')].some((one) => "
                 "one.innerText.includes('warmth') && one.querySelector('path').getAttribute('d'))", 90,
                 "no line on the card")
    browser.eval("[...document.querySelectorAll('.channels button')]"
                 ".find((one) => one.innerText.includes('warmth')).click()")
    browser.wait("document.getElementById('chart-title').innerText === 'shed · warmth'")
    browser.wait("document.getElementById('summary').innerText.includes('minimum 294.65 K')")
    assert "294.65 K" in browser.text("#series")
