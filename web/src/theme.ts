const NAME = 'rollcall-theme';
const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function currentTheme(): Theme {
  const storedTheme = localStorage.getItem(NAME);
  return THEMES.find((theme) => theme === storedTheme) ?? 'system';
}

/** The system's own colours, unless the user chose a theme. */
export function applyTheme(theme: Theme = currentTheme()): void {
  localStorage.setItem(NAME, theme);
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export const nextTheme = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
