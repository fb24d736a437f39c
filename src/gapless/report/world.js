// All stepping happens in the server; this page draws what it answers and tells it what the pointer does.
const SKIN_M = 0.01, TAP_PX = 6, LOOK_MS = 200, RETRY_MS = 1000;
const TAPPED = { box: 0.3, circle: 0.25, polygon: 0.32 }; // reach of a body that is dropped by a tap, in m
const $ = (id) => document.getElementById(id);
const canvases = { truth: $("truth"), network: $("network") };
let state = null, futures = null, stale = true, gone = false, hand = null, stroke = null, pointer = null;

// ---------------------------------------------------------------- asking
let line = Promise.resolve();
function ask(path, question = {}) {
  line = line.catch(() => {}).then(() => send(path, question));
  return line;
}

async function send(path, question) {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
  } catch {
    gone = true;
    throw new Error("The server has stopped. Start gapless world play again and reload this page.");
  }
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  gone = false;
  return said;
}

async function act(path, question) {
  try {
    show(await ask(path, question));
    say("");
  } catch (error) {
    say(error.message);
  }
}

function say(sentence) {
  $("said").textContent = sentence && sentence[0].toUpperCase() + sentence.slice(1);
}

// ---------------------------------------------------------------- showing
function show(told) {
  state = told;
  futures = null;
  stale = true;
  document.body.classList.toggle("table", state.kind === "table");
  document.querySelector(`input[name=kind][value=${state.kind}]`).checked = true;
  $("pause").textContent = state.paused ? "Go" : "Pause";
  if (hand && !state.bodies.some((body) => body.slot === hand.body)) hand = null;
  $("figure-time").textContent = `${state.time.toFixed(1)} s`;
  $("figure-spread").textContent = inCm(state.spread);
  $("figure-error").textContent = inCm(state.error);
  if (state.lost) say(`The network lost a world ${state.lost} times; it was put back where Box2D is.`);
  draw();
}

const inCm = (metres) => `${(100 * metres).toFixed(metres < 0.1 ? 1 : 0)} cm`;
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function draw() {
  if (!state) return;
  const dark = isDark();
  for (const name of Object.keys(canvases)) drawWorld(name, dark);
}

function drawWorld(name, dark) {
  const canvas = canvases[name], pen = canvas.getContext("2d"), style = getComputedStyle(canvas);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const scale = canvas.width / (2 * state.half[0]);
  pen.setTransform(scale, 0, 0, -scale, canvas.width / 2, canvas.height / 2);
  pen.lineJoin = "round";
  const poses = name === "truth" ? [state.truth] : state.members;
  poses[0].forEach((pose, k) => drawBody(pen, state.bodies[k], pose, { dark, scale, fill: true }));
  for (const others of poses.slice(1)) others.forEach((pose, k) => drawBody(pen, state.bodies[k], pose, { dark, scale }));
  if (name === "network" && $("overlay").checked) {
    state.truth.forEach((pose, k) => drawBody(pen, state.bodies[k], pose, { dark, scale, ink: style.color }));
  }
  if (futures) drawFutures(pen, poses, name === "truth" ? [futures.truth] : futures.members, { dark, scale });
  drawHand(pen, poses[0], style.color, scale);
  drawStroke(pen, style.color, scale);
}

const hueOf = (body) => (205 + 137.5 * body.slot) % 360;
const edgeOf = (body, dark, strength) => `hsl(${hueOf(body)} ${dark ? 60 : 55}% ${dark ? 68 : 38}% / ${strength})`;

function drawBody(pen, body, [x, y, angle], { dark, scale, fill, ink }) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(angle);
  pen.beginPath();
  trace(pen, body);
  if (fill) {
    pen.fillStyle = `hsl(${hueOf(body)} ${dark ? 45 : 60}% ${dark ? 38 : 80}%)`;
    pen.fill();
  }
  if (ink) pen.setLineDash([5 * devicePixelRatio / scale, 4 * devicePixelRatio / scale]);
  pen.strokeStyle = ink ?? edgeOf(body, dark, fill ? 1 : 0.75);
  pen.lineWidth = (fill ? 1.6 : 1.2) * devicePixelRatio / scale;
  pen.stroke();
  pen.restore();
}

function trace(pen, body) {
  if (body.radius) {
    pen.arc(0, 0, body.radius, 0, 2 * Math.PI);
    pen.lineTo(0, 0); // so that one sees it roll
    return;
  }
  for (const [x, y] of body.outline ??= skinned(body.corners)) pen.lineTo(x, y);
  pen.closePath();
}

// Polygons keep each other off by a skin around their corners: drawn with it, bodies that touch look as if they did.
function skinned(corners) {
  return corners.map((at, k) => {
    const before = normal(corners.at(k - 1), at), after = normal(at, corners[(k + 1) % corners.length]);
    const along = 1 + before[0] * after[0] + before[1] * after[1];
    return [0, 1].map((i) => at[i] + (SKIN_M * (before[i] + after[i])) / along);
  });
}

function normal([ax, ay], [bx, by]) {
  const length = Math.hypot(bx - ax, by - ay);
  return [(by - ay) / length, (ax - bx) / length];
}

// While the world stands still: where each member thinks that bodies will go.
function drawFutures(pen, poses, worlds, { dark, scale }) {
  pen.lineWidth = 1.5 * devicePixelRatio / scale;
  worlds.forEach((world, member) => world.forEach((path, k) => {
    pen.strokeStyle = pen.fillStyle = edgeOf(state.bodies[k], dark, 0.9);
    pen.beginPath();
    pen.moveTo(...poses[member][k]);
    for (const place of path) pen.lineTo(...place);
    pen.stroke();
    pen.beginPath();
    pen.arc(...path.at(-1), 3 * devicePixelRatio / scale, 0, 2 * Math.PI);
    pen.fill();
  }));
}

function drawHand(pen, poses, ink, scale) {
  const at = hand && state.bodies.findIndex((body) => body.slot === hand.body);
  if (!hand || !poses[at]) return;
  const from = toWorld(poses[at], hand.grip);
  pen.strokeStyle = pen.fillStyle = ink;
  pen.lineWidth = 1.5 * devicePixelRatio / scale;
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...hand.target);
  pen.stroke();
  pen.beginPath();
  pen.arc(...from, 4 * devicePixelRatio / scale, 0, 2 * Math.PI);
  pen.fill();
}

function drawStroke(pen, ink, scale) {
  if (!stroke) return;
  const shape = drawn(stroke);
  pen.strokeStyle = ink;
  pen.setLineDash([6 * devicePixelRatio / scale, 5 * devicePixelRatio / scale]);
  pen.lineWidth = 1.5 * devicePixelRatio / scale;
  pen.beginPath();
  if (shape.circle) pen.arc(...shape.circle.centre, shape.circle.radius, 0, 2 * Math.PI);
  else shape.polygon.forEach(([x, y]) => pen.lineTo(x, y));
  if (stroke.tool === "box") pen.closePath();
  pen.stroke();
  pen.setLineDash([]);
}

// ---------------------------------------------------------------- drawing and pushing
const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
const toWorld = ([x, y, angle], [u, v]) =>
  [x + Math.cos(angle) * u - Math.sin(angle) * v, y + Math.sin(angle) * u + Math.cos(angle) * v];
const toBody = ([x, y, angle], [u, v]) => toWorld([0, 0, -angle], [u - x, v - y]);

function place(canvas, event) {
  const box = canvas.getBoundingClientRect(), scale = (2 * state.half[0]) / canvas.clientWidth;
  const x = event.clientX - box.left - canvas.clientLeft - canvas.clientWidth / 2;
  const y = event.clientY - box.top - canvas.clientTop - canvas.clientHeight / 2;
  return [clamp(x * scale, state.half[0]), clamp(-y * scale, state.half[1])];
}

const clamp = (value, most) => Math.max(-most, Math.min(most, value));

function under(name, at) {
  const poses = name === "truth" ? state.truth : state.members[0];
  for (let k = poses.length - 1; k >= 0; k--) {
    const spot = toBody(poses[k], at);
    if (within(state.bodies[k], spot)) return { body: state.bodies[k].slot, grip: spot, target: at, about: state.bodies[k] };
  }
  return null;
}

function within(body, [u, v]) {
  if (body.radius) return Math.hypot(u, v) <= body.radius;
  return body.corners.every(([ax, ay], k) => {
    const [bx, by] = body.corners[(k + 1) % body.corners.length];
    return (bx - ax) * (v - ay) - (by - ay) * (u - ax) >= 0;
  });
}

// What a stroke would become: a question for /add.
function drawn({ tool, points }) {
  const [ax, ay] = points[0], [bx, by] = points.at(-1);
  if (tool === "circle") return { circle: { centre: [ax, ay], radius: Math.hypot(bx - ax, by - ay) } };
  if (tool === "box") return { polygon: [[ax, ay], [bx, ay], [bx, by], [ax, by]] };
  return { polygon: points };
}

function tapped(tool, [x, y]) {
  const reach = TAPPED[tool];
  if (tool === "circle") return { circle: { centre: [x, y], radius: reach } };
  const turns = tool === "box" ? [0.55, Math.PI - 0.55, Math.PI + 0.55, -0.55] : [0, 1, 2, 3, 4].map((k) => 1.57 + 1.2566 * k);
  return { polygon: turns.map((turn) => [x + reach * Math.cos(turn), y + reach * Math.sin(turn)]) };
}

function down(name, event) {
  if (!state || event.button || pointer !== null) return;
  const canvas = canvases[name], at = place(canvas, event);
  canvas.setPointerCapture(event.pointerId);
  pointer = event.pointerId;
  hand = under(name, at);
  if (!hand) stroke = { tool: chosen("tool"), points: [at], from: [event.clientX, event.clientY], far: 0 };
  canvas.classList.toggle("held", Boolean(hand));
  delete canvas.dataset.tip; // it would hide what is pushed
  draw();
}

function move(name, event) {
  if (!state) return;
  const canvas = canvases[name], at = place(canvas, event);
  if (pointer === null) {
    const found = under(name, at);
    canvas.classList.toggle("over", Boolean(found));
    if (found) canvas.dataset.tip = described(found.about);
    else delete canvas.dataset.tip;
    return;
  }
  if (event.pointerId !== pointer) return;
  if (hand) hand.target = at;
  stale = true;
  if (stroke) {
    stroke.points.push(at);
    stroke.far = Math.max(stroke.far, Math.hypot(event.clientX - stroke.from[0], event.clientY - stroke.from[1]));
  }
  draw();
}

function up(name, event) {
  if (event.pointerId !== pointer) return;
  const made = stroke;
  canvases[name].classList.remove("held");
  pointer = hand = stroke = null;
  stale = true;
  if (made && event.type === "pointerup") {
    const shape = made.far < TAP_PX ? tapped(made.tool, made.points[0]) : drawn(made);
    act("/add", { ...shape, ...matter() });
  }
  draw();
}

const described = ({ mass, friction, restitution, drag }) =>
  `${mass.toPrecision(2)} kg\nfriction ${friction.toFixed(2)}, bounce ${restitution.toFixed(2)}` +
  (state.kind === "table" ? `\non the table ${drag.toFixed(2)}` : "");

function matter() {
  const given = Object.fromEntries(["friction", "restitution", "drag"].map((name) => [name, Number($(name).value)]));
  return { ...given, mass: 10 ** Number($("mass").value) };
}

function tellMatter() {
  const { mass, ...others } = matter();
  $("mass-is").textContent = `${mass.toPrecision(2)} kg`;
  for (const [name, value] of Object.entries(others)) $(`${name}-is`).textContent = `${value.toFixed(2)}`;
}

// ---------------------------------------------------------------- the clock
// The server keeps it, so that a second tab neither hurries the world nor moves what the first has paused.
const pause = (paused) => act("/pause", { paused });
const later = (ms) => new Promise((done) => setTimeout(done, ms));
const held = () => hand && { body: hand.body, grip: hand.grip, target: hand.target };
const nextFrame = () => new Promise(requestAnimationFrame);

async function foresee() {
  stale = false;
  const asked = state;
  try {
    const told = await ask("/foresee", { hand: held() });
    if (state === asked && state.paused) futures = told;
  } catch (error) {
    say(error.message);
  }
  draw();
}

async function run() {
  await act("/state");
  let began = performance.now(), first = state?.time;
  for (;;) {
    const now = await nextFrame();
    if (gone) {
      await later(RETRY_MS);
      await act("/state");
      continue;
    }
    try {
      const told = await ask("/run", { hand: held() });
      if (told.turn !== state?.turn) show(told);
    } catch (error) {
      say(error.message);
      hand = null;
    }
    const still = !state || state.paused || gone;
    if (still || state.time < first) [began, first] = [now, state?.time];
    if (still) $("figure-pace").textContent = "–";
    if (state?.paused) await (stale ? foresee() : later(LOOK_MS));
    if (now - began > 1000) {
      $("figure-pace").textContent = `${((1000 * (state.time - first)) / (now - began)).toFixed(1)} ×`;
      [began, first] = [now, state.time];
    }
  }
}

// ---------------------------------------------------------------- wiring
for (const [name, canvas] of Object.entries(canvases)) {
  canvas.addEventListener("pointerdown", (event) => down(name, event));
  canvas.addEventListener("pointermove", (event) => move(name, event));
  canvas.addEventListener("pointerup", (event) => up(name, event));
  canvas.addEventListener("pointercancel", (event) => up(name, event));
  new ResizeObserver(() => {
    canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
    canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
    draw();
  }).observe(canvas);
}
$("pause").addEventListener("click", () => pause(!state?.paused));
$("step").addEventListener("click", () => {
  pause(true);
  act("/step", { frames: 1, hand: held() });
});
for (const verb of ["reset", "clear", "align"]) $(verb).addEventListener("click", () => act(`/${verb}`));
document.querySelectorAll("input[name=kind]").forEach((input) =>
  input.addEventListener("change", () => act("/reset", { kind: input.value })));
document.querySelectorAll(".slider input").forEach((slider) => slider.addEventListener("input", tellMatter));
$("overlay").addEventListener("change", draw);
$("theme").addEventListener("click", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
addEventListener("keydown", (event) => {
  if (event.target.closest("button, input") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " ") pause(!state?.paused);
  else if (event.key === ".") $("step").click();
  else return;
  event.preventDefault();
});
tellMatter();
run();
