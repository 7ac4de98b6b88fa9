// A picture that can be looked at from near: with buttons, with Ctrl and the wheel, by dragging, and with keys.
import {setClass} from "/words.js";

const nearest = 40;
// Below so many pixels names are only clutter.
const smallestName = 5;
const nameSize = 13;

export class Zoom {
  constructor(box) {
    this.box = box;
    this.svg = null;
    this.whole = null;
    // What is seen of it; null: all.
    this.view = null;
    new ResizeObserver(() => this.apply()).observe(box);
    this.listen();
  }

  // A new drawing: what somebody looks at from near stays where it was.
  show(svg, whole) {
    const hadFocus = this.svg !== null && document.activeElement === this.svg;
    this.svg = svg;
    this.whole = whole;
    this.box.replaceChildren(svg);
    if (hadFocus) svg.focus({preventScroll: true});
    this.apply();
  }

  apply() {
    if (!this.svg) return;
    const {x, y, width, height} = this.view ?? this.whole;
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    const scale = Math.min(this.box.clientWidth / width, this.svg.clientHeight / height);
    setClass(this.svg, "far", scale * nameSize < smallestName);
    setClass(this.svg, "near", this.view !== null);
  }

  reset() { this.view = null; this.apply(); }

  // By a factor, around a place of the drawing; its middle without one.
  by(factor, at) {
    if (!this.whole) return;
    const from = this.view ?? this.whole;
    const width = Math.max(this.whole.width / nearest, from.width / factor);
    if (width >= this.whole.width) { this.reset(); return; }
    const part = width / from.width;
    const [x, y] = at ?? [from.x + from.width / 2, from.y + from.height / 2];
    this.view = {width, height: from.height * part, x: x - (x - from.x) * part, y: y - (y - from.y) * part};
    this.move(0, 0);
  }

  // By parts of what is seen; some of the picture always stays.
  move(right, down) {
    if (!this.view) return;
    const {view, whole} = this;
    const keep = (value, least, most) => Math.min(most, Math.max(least, value));
    view.x = keep(view.x + right * view.width, whole.x - view.width / 2,
      whole.x + whole.width - view.width / 2);
    view.y = keep(view.y + down * view.height, whole.y - view.height / 2,
      whole.y + whole.height - view.height / 2);
    this.apply();
  }

  // Where in the drawing an event was.
  place(event) {
    const matrix = this.svg.getScreenCTM();
    return matrix ? [(event.clientX - matrix.e) / matrix.a, (event.clientY - matrix.f) / matrix.d] : null;
  }

  listen() {
    const {box} = this;
    let last = null;
    box.addEventListener("wheel", (event) => {
      // The wheel alone scrolls the page.
      if (!this.svg || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.by(Math.exp(-event.deltaY / 300), this.place(event));
    }, {passive: false});
    box.addEventListener("dblclick", (event) => this.svg && this.by(2, this.place(event)));
    box.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && this.view) last = [event.clientX, event.clientY];
    });
    box.addEventListener("pointermove", (event) => {
      if (!last || !this.view || !event.buttons) { last = null; return; }
      const scale = this.svg.getScreenCTM().a;
      this.move((last[0] - event.clientX) / scale / this.view.width,
        (last[1] - event.clientY) / scale / this.view.height);
      last = [event.clientX, event.clientY];
    });
    for (const end of ["pointerup", "pointercancel"]) box.addEventListener(end, () => { last = null; });
    box.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const moves = {
      "+": () => this.by(1.5), "=": () => this.by(1.5), "-": () => this.by(1 / 1.5),
      "0": () => this.reset(), "Escape": () => this.reset(),
      "ArrowLeft": () => this.move(-0.2, 0), "ArrowRight": () => this.move(0.2, 0),
      "ArrowUp": () => this.move(0, -0.2), "ArrowDown": () => this.move(0, 0.2),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !moves[event.key]) return;
    // Without a zoom the arrows scroll the page.
    if (!this.view && event.key.startsWith("Arrow")) return;
    event.preventDefault();
    moves[event.key]();
  }
}
