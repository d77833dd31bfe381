// A button beside each block of code copies it; of a session at a prompt, what was typed.
"use strict";

function typed(text) {
  const lines = text.split("\n");
  if (!lines.some((line) => line.startsWith(">>> "))) return text;
  return lines
    .filter((line) => /^(>>>|\.\.\.)( |$)/.test(line))
    .map((line) => line.slice(4))
    .join("\n");
}

document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div.highlight")) {
    if (block.closest(".message")) continue;
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed(block.querySelector("pre").textContent));
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    block.append(button);
  }
});
