// The page styles must come before the styles of its parts.
import './typeface/fallback.css';
import './style/tokens.css';
import './style/base.css';
import './style/page.css';
import './style/markdown.css';

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchDisplay } from './display/display.ts';
import { Entrance } from './shell/entrance.tsx';
import { LanguageProvider } from './strings/strings.tsx';

watchDisplay();
const root = document.getElementById('page');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <LanguageProvider>
        <Entrance />
      </LanguageProvider>
    </StrictMode>,
  );
}
