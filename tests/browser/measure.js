// What the tests ask of a page: each function returns a list of complaints, empty when all is well.
const seen = (element) => element.checkVisibility() && element.getClientRects().length > 0;
const words = (element) => element.textContent.trim().slice(0, 60);

function numbers(colour) {
  const canvas = (numbers.canvas ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }));
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
}

function luminance([r, g, b]) {
  const linear = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbers(getComputedStyle(e).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255, 255];
}

function contrast(element) {
  const style = getComputedStyle(element);
  const ink = numbers(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
  const [a, b] = [luminance(ink), luminance(ground(element))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

function faintText() {
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
  const texts = [...document.querySelectorAll("body *")].filter((e) => own(e) && seen(e) && !e.matches("script, style"));
  return texts
    .map((e) => [contrast(e), words(e)])
    .filter(([ratio]) => ratio < 4.5)
    .map(([ratio, text]) => `${text}: ${ratio.toFixed(2)}`);
}

function touchingText() {
  const found = [];
  for (const chart of document.querySelectorAll("figure svg[role=img]")) {
    const boxes = [...chart.querySelectorAll("text")].filter(seen).map((t) => [words(t), t.getBoundingClientRect()]);
    boxes.forEach(([a, p], i) => {
      for (const [b, q] of boxes.slice(i + 1)) {
        const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
        const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (across > 1 && down > 3) found.push(`${a} | ${b}`); // boxes include the line's spacing above and below
      }
    });
  }
  return found;
}

function sticksOut() {
  const width = document.documentElement.clientWidth;
  const found = document.documentElement.scrollWidth > width ? ["the page scrolls sideways"] : [];
  const texts = [...document.querySelectorAll("svg text")].filter(seen);
  const outside = texts.filter((t) => t.getBoundingClientRect().left < -0.5 || t.getBoundingClientRect().right > width + 0.5);
  return [...found, ...outside.map(words)];
}

function unnamedCharts() {
  const found = [];
  for (const chart of [...document.querySelectorAll("figure svg[role=img]")].filter(seen)) {
    const title = chart.closest("figure").querySelector("figcaption");
    if (!title || words(title).length < 12) found.push("a chart has no title");
    if ((chart.getAttribute("aria-label") ?? "").length < 25) found.push(`${words(title)}: nothing is said aloud`);
    if (!chart.querySelector("text.title")) found.push(`${words(title)}: no axis has a name`);
  }
  return found;
}
