"use strict";
// Keys for those who read many: a digit chooses, the space bar goes on. Without this file all works
// by mouse and by tab.
document.addEventListener("keydown", event => {
  const form = document.querySelector("form[data-keys]");
  const go = document.querySelector("a[data-go]");
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("textarea, input[type=text], select, summary")) return;
  if (event.key === " " && (form || go)) {
    if (event.target.matches("button, a")) return;
    event.preventDefault();
    if (event.repeat) return;
    if (form) form.requestSubmit(); else go.click();
    return;
  }
  if (!form || !/^[0-9]$/.test(event.key)) return;
  const group = [...form.querySelectorAll(`[data-key="${event.key}"]`)];
  if (!group.length) return;
  event.preventDefault();
  // One box is turned on or off; of several (a rating) the next one after the chosen one is taken,
  // and first the one that most questions get.
  if (group.length === 1) {
    group[0].checked = group[0].type === "radio" || !group[0].checked;
    group[0].focus();
  } else {
    const at = group.findIndex(one => one.checked);
    const next = at < 0 ? group.find(one => "first" in one.dataset) : group[(at + 1) % group.length];
    next.checked = true;
    next.focus();
  }
});
