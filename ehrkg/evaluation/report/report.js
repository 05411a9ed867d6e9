// The sample of questions, one at a time: filters, steps, and links to a single one. Without this
// script all of them stand below each other, and nothing is lost.
"use strict";
(() => {
  const form = document.getElementById("browser");
  if (!form) return;
  const all = [...document.querySelectorAll("article.question")];
  const [task, shape, place, previous, next] = ["pick-task", "pick-form", "place", "previous", "next"]
    .map(id => document.getElementById(id));
  let shown = all;
  let at = 0;

  function draw() {
    for (const one of all) one.hidden = one !== shown[at];
    place.textContent = shown.length ? `${at + 1} of ${shown.length}` : "none";
    previous.disabled = at <= 0;
    next.disabled = at >= shown.length - 1;
  }
  function filter() {
    shown = all.filter(one => (!task.value || one.dataset.task === task.value)
      && (!shape.value || one.dataset.form === shape.value));
    at = 0;
    draw();
  }
  function step(by) {
    at = Math.min(Math.max(at + by, 0), Math.max(shown.length - 1, 0));
    draw();
  }
  function follow() {
    const wanted = all.find(one => "#" + one.id === decodeURIComponent(location.hash));
    if (!wanted) return;
    if (!shown.includes(wanted)) { task.value = shape.value = ""; filter(); }
    at = shown.indexOf(wanted);
    draw();
    wanted.scrollIntoView();
  }

  task.addEventListener("change", filter);
  shape.addEventListener("change", filter);
  previous.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));
  form.addEventListener("submit", event => event.preventDefault());
  form.parentElement.addEventListener("keydown", event => {
    const inside = event.target.closest("select, .scroll, pre");
    if (inside || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  });
  window.addEventListener("hashchange", follow);
  form.hidden = false;
  filter();
  follow();
})();
