"""A page with a password: login.py URL USER PASSWORD."""
import sys

from browser import Browser

url, user, password = sys.argv[1:]

with Browser() as browser:
    browser.login(user, password)
    browser.goto(url)
    browser.wait("document.getElementById('network').innerText === 'lab'")
    assert [one for one in browser.complaints if "401" in one] == []
