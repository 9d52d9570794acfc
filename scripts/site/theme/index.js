// VitePress's theme with the fonts of the reader's system: no page asks another host, and none has a font to load.
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
