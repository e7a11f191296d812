import { useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';
import type { Service } from '../service/service.ts';
import { type FiledPrompt, freeName, mostPromptFileBytes, readPromptFile, toPromptFile } from './prompt-file.ts';
import { readPrompt, savePrompt } from './prompts.ts';
import { usePromptsWords } from './prompts-words.ts';

interface PromptTransferProps {
  readonly names: readonly string[];
  /** Runs what may fail, and lists anew what there is. */
  readonly attempt: (act: Promise<unknown>) => void;
}

/** Hands prompts out as a file, all of them or one, and takes those of a file in: that is how they get to a colleague. */
export function PromptTransfer({ names, attempt }: PromptTransferProps) {
  const words = usePromptsWords();
  const { service } = usePage();
  const input = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState('');
  const bringIn = async (file: File): Promise<void> => {
    const filed = file.size > mostPromptFileBytes ? undefined : readPromptFile(await file.text());
    setSaid(filed === undefined ? words.noPromptsIn(file.name) : words.broughtIn(await addPrompts(service, filed, names)));
  };
  return (
    <>
      <div className="row">
        <button type="button" className="button slim" onClick={() => input.current?.click()}>
          {words.bringIn}
        </button>
        {names.length > 0 && (
          <button type="button" className="button slim" onClick={() => attempt(savePrompts(service, names, words.prompts))}>
            {words.saveAll}
          </button>
        )}
      </div>
      <input
        {...{ ref: input, type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': words.bringIn }}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) attempt(bringIn(file));
          target.value = '';
        }}
      />
      <p className="soft small" role="status">
        {said}
      </p>
    </>
  );
}

/** Hands out some prompts as one file. Throws ServiceFault. */
export async function savePrompts(service: Service, names: readonly string[], title: string): Promise<void> {
  const prompts: FiledPrompt[] = [];
  for (const name of names) prompts.push(await readPrompt(service, 'said', name));
  saveFile(toFileName(title, 'json'), toPromptFile(prompts));
}

/** Adds those that are not there, each under a name that is not taken; gives how many. Throws ServiceFault. */
async function addPrompts(service: Service, filed: readonly FiledPrompt[], names: readonly string[]): Promise<number> {
  const taken = new Set(names);
  let added = 0;
  for (const { name, content } of filed) {
    if (taken.has(name) && (await readPrompt(service, 'said', name)).content === content) continue;
    const free = freeName(name, taken);
    await savePrompt(service, 'said', { name: free, content });
    taken.add(free);
    added += 1;
  }
  return added;
}
