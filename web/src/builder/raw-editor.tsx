import { useEffect, useId, useState } from 'react';
import { isJsonObject, JsonFault, type JsonObject, parseJson } from '#base/json.ts';
import { useBuilderWords } from './builder-words.ts';

interface RawEditorProps {
  readonly entry: JsonObject;
  readonly change: (entry: JsonObject) => void;
  /** Whether there is text that is not taken over, since it is no JSON. */
  readonly noteBroken: (isBroken: boolean) => void;
}

/** The whole application as JSON. */
export function RawEditor({ entry, change, noteBroken }: RawEditorProps) {
  const words = useBuilderWords();
  const [text, setText] = useState(() => JSON.stringify(entry, undefined, 2));
  const [shown, setShown] = useState(entry);
  const [trouble, setTrouble] = useState<string>();
  const id = useId();
  // What was saved, or loaded anew, takes the place of what stood here.
  if (shown !== entry) {
    setShown(entry);
    setText(JSON.stringify(entry, undefined, 2));
    setTrouble(undefined);
  }
  useEffect(() => {
    if (trouble === undefined) noteBroken(false);
  }, [trouble, noteBroken]);
  const write = (next: string): void => {
    setText(next);
    const read = readObject(next);
    setTrouble(read.trouble);
    noteBroken(read.value === undefined);
    if (read.value === undefined) return;
    setShown(read.value);
    change(read.value);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{words.rawLabel}</label>
      <p className="soft small" id={`${id}-hint`}>
        {words.rawHint}
      </p>
      <textarea
        {...{ id, className: 'code builder-raw', spellCheck: false, value: text }}
        aria-invalid={trouble !== undefined}
        aria-describedby={trouble === undefined ? `${id}-hint` : `${id}-hint ${id}-fault`}
        onChange={({ target }) => write(target.value)}
      />
      {trouble !== undefined && (
        <p className="trouble" id={`${id}-fault`}>
          {words.notJson(trouble)}
        </p>
      )}
    </div>
  );
}

/** The object in a text, or why there is none, with the place as the browser tells it. */
function readObject(text: string): { readonly value?: JsonObject; readonly trouble?: string } {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? { value } : { trouble: '' };
  } catch (thrown) {
    const cause = thrown instanceof JsonFault && thrown.cause instanceof Error ? thrown.cause : undefined;
    return { trouble: cause?.message ?? (thrown instanceof Error ? thrown.message : '') };
  }
}
