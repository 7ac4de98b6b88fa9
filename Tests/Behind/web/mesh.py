"""The mesh with a relay r between the collector c and an agent a: mesh.py URL."""
import sys

from browser import Browser

with Browser() as browser:
    browser.goto(sys.argv[1] + "/#mesh")
    browser.wait("document.querySelectorAll('#mesh line').length >= 2", 90, "no links")
    names = browser.wait("""(() => {
        const names = [...document.querySelectorAll("#mesh .name")].map((one) => one.textContent);
        return ["a", "c", "r"].every((name) => names.includes(name)) && names; })()""", 60)
    assert len(names) == len(set(names)), names
    # From the collector outwards: r is nearer than a.
    places = browser.eval("""Object.fromEntries([...document.querySelectorAll("#mesh g")].map((one) => {
        const dot = one.querySelector("circle");
        return [one.querySelector(".name").textContent,
            Math.hypot(dot.getAttribute("cx"), dot.getAttribute("cy"))]; }))""")
    assert places["c"] == 0 and 0 < places["r"] < places["a"], places
    titles = browser.eval("[...document.querySelectorAll('#mesh line title')].map((one) => one.textContent)")
    assert any("ethernet" in title and "cost" in title for title in titles), titles
    # The same again is the same picture.
    first = browser.eval("document.getElementById('mesh').innerHTML")
    browser.eval("document.querySelector('#view-mesh details').open = true")
    table = browser.text("#links")
    assert "ethernet" in table and "r" in table, table
    # The agent tells how much its own link loses.
    browser.wait("""[...document.querySelectorAll("#mesh line title")].some((one) => {
        const [names, rest] = one.textContent.split(":");
        return !names.split(" – ").includes("c") && rest.includes("loss"); })""", 90, "no loss behind the relay")

    # Nearer with a button, a key and the wheel; moved by dragging and keys; whole again.
    size = "Number(document.querySelector('#mesh svg').getAttribute('viewBox').split(' ')[2])"
    left = "Number(document.querySelector('#mesh svg').getAttribute('viewBox').split(' ')[0])"
    whole = browser.eval(size)
    browser.click("#mesh-nearer")
    browser.wait(f"Math.abs({size} - {whole / 1.5}) < 1", what="the button does not zoom")
    browser.eval("document.querySelector('#mesh svg').focus()")
    browser.key("+", "+")
    browser.wait(f"Math.abs({size} - {whole / 2.25}) < 1", what="the key does not zoom")
    before = browser.eval(left)
    browser.key("ArrowRight")
    browser.wait(f"{left} > {before}", what="an arrow does not move")
    before = browser.eval(left)
    box = browser.box("#mesh svg")
    browser.drag(box["x"] + 200, box["y"] + 100, box["x"] + 300)
    browser.wait(f"{left} < {before}", what="dragging does not move")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=box["x"] + 300, y=box["y"] + 150, deltaX=0,
                 deltaY=-100, modifiers=2)
    browser.wait(f"{size} < {whole / 2.3}", what="the wheel does not zoom")
    browser.click("#mesh-whole")
    browser.wait(f"{size} === {whole}", what="not whole again")

    # A time of one's own.
    browser.eval("""(() => { document.getElementById("mesh-at").value = "2021-05-06T07:08:09";
        document.getElementById("mesh-form").requestSubmit(); })()""")
    browser.wait("location.hash.startsWith('#mesh?at=16')")
    browser.wait("document.getElementById('mesh-when').innerText === '2021-05-06 07:08:09: nothing is known'")
    browser.click("#mesh-now")
    browser.wait("document.getElementById('mesh-when').innerText.startsWith('now: ')")
    # Long ago there was nothing.
    browser.eval("""(() => { const slider = document.getElementById("mesh-time");
        slider.value = -100; slider.dispatchEvent(new Event("input")); })()""")
    browser.wait("document.getElementById('mesh-when').innerText.includes('nothing is known')")
    browser.wait("document.querySelectorAll('#mesh line').length === 0")
    browser.click("#mesh-now")
    browser.wait("document.querySelectorAll('#mesh line').length >= 2")
    assert browser.complaints == [], browser.complaints
