"""After agent a has stopped: silent.py URL."""
import sys

from browser import Browser

with Browser() as browser:
    browser.goto(sys.argv[1])
    browser.wait("[...document.querySelectorAll('.card')].some((card) => "
                 "card.innerText.startsWith('a\\n') && card.innerText.includes('silent, '))", 60,
                 "a is not shown as silent")
    browser.wait("document.getElementById('state').innerText.startsWith('1 of 2')")
