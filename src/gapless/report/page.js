const tip = document.getElementById("tip");

function point(event) {
  const mark = event.target.closest("[data-tip]");
  tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = mark.dataset.tip;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, room))}px`;
  tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 14)}px`;
}

addEventListener("pointermove", point);
addEventListener("pointerdown", point);
addEventListener("scroll", () => (tip.hidden = true), { passive: true });

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    watch.unobserve(target);
    target.play().catch(() => {}); // a browser that forbids it still offers the controls
  }
}, { threshold: 0.5 });
if (!still) document.querySelectorAll("video").forEach((film) => watch.observe(film));
