// The page styles must come before the styles of its parts.
import '../src/typeface/fallback.css';
import '../src/style/tokens.css';
import '../src/style/base.css';
import '../src/style/page.css';
import '../src/style/markdown.css';
import './components.css';

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchDisplay } from '../src/display/display.ts';
import { Logo } from '../src/parts/operator-brand.tsx';
import { LanguageProvider } from '../src/strings/strings.tsx';
import { useTypeface } from '../src/typeface/use-typeface.ts';
import { AnswerSection } from './answer-section.tsx';
import { ButtonSection } from './button-section.tsx';
import { DataSection } from './data-section.tsx';
import { DisplayChoice } from './display-choice.tsx';
import { FieldSection } from './field-section.tsx';
import { MessageSection } from './message-section.tsx';
import { TokenSection } from './token-section.tsx';

/** Shows every component in its states, for contributors. Only `npm run dev:web` serves this page. Builds do not contain it. */
function Components() {
  useTypeface(true);
  return (
    <main className="components">
      <header className="row">
        <Logo size={28} />
        <h1>Components</h1>
      </header>
      <DisplayChoice />
      <TokenSection />
      <ButtonSection />
      <FieldSection />
      <MessageSection />
      <DataSection />
      <AnswerSection />
    </main>
  );
}

const root = document.getElementById('page');
watchDisplay();
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <LanguageProvider>
        <Components />
      </LanguageProvider>
    </StrictMode>,
  );
}
