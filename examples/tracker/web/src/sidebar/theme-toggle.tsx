import { MoonIcon, SunIcon } from '../parts/icons.js';

/** Switches between light and dark. Until then, the page follows the system. A cookie tells the server. */
export function ThemeToggle() {
  const toggle = () => {
    const { dataset } = document.documentElement;
    const isDark =
      dataset.theme === 'dark' || (dataset.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
    dataset.theme = isDark ? 'light' : 'dark';
    // biome-ignore lint/suspicious/noDocumentCookie: not all browsers have the Cookie Store API
    document.cookie = `theme=${dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  };
  return (
    <button type="button" className="icon-button" aria-label="Light or dark" title="Light or dark" onClick={toggle}>
      <span className="when-light">
        <MoonIcon />
      </span>
      <span className="when-dark">
        <SunIcon />
      </span>
    </button>
  );
}
