import { type ReactNode, useState } from 'react';
import { TextButton } from '../parts/icon.tsx';
import { useLanguage } from '../strings/strings.tsx';

/** Characters that are drawn at first, and with each click. Parsing and layout of several millions of characters take seconds. */
const charsInStep = 1_000_000;

interface TextStartProps {
  readonly text: string;
  readonly children: (start: string) => ReactNode;
}

/** Draws the start of a very long text, and more on demand. */
export function TextStart({ text, children }: TextStartProps) {
  const { strings, locale } = useLanguage();
  const [chars, setChars] = useState(charsInStep);
  return (
    <>
      {children(text.slice(0, chars))}
      {text.length > chars && (
        <p className="row small soft">
          {strings.truncatedText(chars.toLocaleString(locale), text.length.toLocaleString(locale))}
          <TextButton className="button slim" onClick={() => setChars(chars + charsInStep)}>
            {strings.showMore}
          </TextButton>
        </p>
      )}
    </>
  );
}

const maxKernedChars = 1_000;

/** Draws a text. A very long word has no kerning, because with it, the layout of 40,000 characters of Base64 takes 12 s. */
export function PlainText({ text }: { readonly text: string }) {
  const isKerned = text.length <= maxKernedChars || text.split(/\s/).every((word) => word.length <= maxKernedChars);
  return isKerned ? text : <span className="unkerned">{text}</span>;
}
