import { type ReactNode, useId, useState } from 'react';
import { CodeBlock } from '../markdown/code-block.tsx';
import { takeKey } from '../page/kept-key.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Segments } from '../parts/segments.tsx';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { useCodeWords } from './code-words.ts';
import { toSnippets } from './snippets.ts';
import '../parts/question-dialog.css';
import './code.css';

interface CodeDialogProps {
  readonly deployment: Deployment;
  readonly close: () => void;
}

/** How programs ask a deployment: its address, its name, a key, and snippets that run as they stand. */
export function CodeDialog({ deployment: { id, name }, close }: CodeDialogProps) {
  const words = { ...useWords(), ...useCodeWords() };
  const { dialog, leave } = useShownDialog(close);
  const title = useId();
  const address = new URL('.', location.href).href.replace(/\/$/, '');
  const [first, ...others] = toSnippets({ address, deployment: id });
  const [chosen, setChosen] = useState(first?.name ?? '');
  const shown = others.find((snippet) => snippet.name === chosen) ?? first;
  const ownKey = takeKey();
  if (first === undefined || shown === undefined) return null;
  const options = [first, ...others].map((snippet) => [snippet.name, snippet.name] as const);
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog code-dialog', 'aria-labelledby': title, closedby: 'any' }}>
      <h2 id={title}>{words.title(name)}</h2>
      <p className="soft">{words.intro}</p>
      <dl>
        <Fact name={words.address} value={`${address}/v1`} copy={words.copyAddress} />
        <Fact name={words.model} value={id} copy={words.copyModel} />
        <Fact name={words.key}>
          <span className="small">
            {words.keyHint} {ownKey !== undefined && words.ownKey}
          </span>
          {ownKey !== undefined && <CopyButton text={() => ownKey} label={words.copyOwnKey} />}
        </Fact>
      </dl>
      <Segments name={words.way} value={shown.name} options={options} choose={setChosen} />
      <p className="soft small">
        {shown.file !== undefined && `${words.inFile(shown.file)} `}
        {words.setKey} <code>export KEY=…</code>
      </p>
      <CodeBlock text={shown.text} language={shown.language} isWhole />
      <div className="row end">
        <button type="button" className="button" onClick={leave}>
          {words.close}
        </button>
      </div>
    </dialog>
  );
}

type FactProps = { readonly name: string } & (
  | { readonly value: string; readonly copy: string }
  | { readonly children: ReactNode }
);

/** Something that a program is told, and a button to take it along. */
function Fact(props: FactProps) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>
        {'value' in props ? (
          <>
            <code>{props.value}</code>
            <CopyButton text={() => props.value} label={props.copy} />
          </>
        ) : (
          props.children
        )}
      </dd>
    </div>
  );
}
