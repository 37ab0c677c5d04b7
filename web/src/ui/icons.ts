/** Icons on a 24 × 24 grid, drawn for this page. `currentColor`, hidden from screen readers. */

const PATHS = {
  play: '<path d="M8 5.2v13.6a.8.8 0 0 0 1.2.7l11-6.8a.8.8 0 0 0 0-1.4l-11-6.8A.8.8 0 0 0 8 5.2z" fill="currentColor"/>',
  pause: '<path d="M7 5h3.4v14H7zM13.6 5H17v14h-3.4z" fill="currentColor"/>',
  back: '<path d="M12 5a7.5 7.5 0 1 1-7.3 5.8M12.4 1.8 9.2 5l3.2 3.2"/><text x="12" y="16" class="n">10</text>',
  forward:
    '<path d="M12 5a7.5 7.5 0 1 0 7.3 5.8M11.6 1.8 14.8 5l-3.2 3.2"/><text x="12" y="16" class="n">10</text>',
  sound:
    '<path d="M4 9.5v5h3.2L12 18.6V5.4L7.2 9.5z" fill="currentColor"/><path d="M15.2 9a4.2 4.2 0 0 1 0 6M17.9 6.4a8 8 0 0 1 0 11.2"/>',
  muted: '<path d="M4 9.5v5h3.2L12 18.6V5.4L7.2 9.5z" fill="currentColor"/><path d="m15.5 9.5 5 5m0-5-5 5"/>',
  captions:
    '<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="M10.4 10.3a2.2 2.2 0 1 0 0 3.4M17 10.3a2.2 2.2 0 1 0 0 3.4"/>',
  scorecard:
    '<rect x="3" y="4.5" width="18" height="15" rx="2.5"/><path d="M3 9.5h18M9 9.5v10M12.5 13h5M12.5 16.2h5"/>',
  settings:
    '<path d="M4 7h9M17 7h3M4 17h3M11 17h9"/><circle cx="15" cy="7" r="2"/><circle cx="9" cy="17" r="2"/>',
  pip: '<rect x="3" y="5" width="18" height="14" rx="2.5"/><rect x="11.5" y="11.5" width="7" height="5" rx="1" fill="currentColor"/>',
  expand: '<path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"/>',
  shrink: '<path d="M9 4v5H4M20 9h-5V4M15 20v-5h5M4 15h5v5"/>',
  home: '<path d="m14.5 5-7 7 7 7"/>',
  close: '<path d="m6 6 12 12M18 6 6 18"/>',
  brand: '<path d="M3 11 12 4l9 7M5 11v8M19 11v8M3 19.5h18M9.7 11v8M14.3 11v8"/>',
} as const;

export type IconName = keyof typeof PATHS;

/** Sets an element's icon; its words stay in `aria-label`. */
export function setIcon(element: HTMLElement, name: IconName): void {
  if (element.dataset.icon === name) return;
  element.dataset.icon = name;
  element.innerHTML = svg(name);
}

export function svg(name: IconName): string {
  return `<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">${PATHS[name]}</svg>`;
}
