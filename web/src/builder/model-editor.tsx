import { usePage } from '../page/page.tsx';
import { sharedBy } from '../words/shared-by.ts';
import { useWords } from '../words/words.tsx';
import { useBuilderWords } from './builder-words.ts';
import type { EditorProps } from './form.ts';
import { FieldFrame } from './frame.tsx';

/** The choice of whom the application asks, out of what is open to its maker. */
export function ModelEditor({ value, path, form, label, hint, isRequired }: EditorProps) {
  const words = useWords();
  const builderWords = useBuilderWords();
  // An application cannot ask itself.
  const deployments = usePage().deployments.filter(({ id }) => id !== form.saved?.id);
  const chosen = typeof value === 'string' ? value : '';
  const groups = [
    { name: builderWords.models, items: deployments.filter(({ isApplication }) => !isApplication) },
    {
      name: builderWords.applications,
      items: deployments.filter(({ isApplication, maker }) => isApplication && maker !== 'other'),
    },
    { name: words.sharedByOthers, items: deployments.filter(({ maker }) => maker === 'other') },
  ];
  return (
    <FieldFrame {...{ form, path, label, hint, isRequired }}>
      {(control) => (
        <select {...control} value={chosen} onChange={({ target }) => form.change(path, target.value)}>
          {chosen === '' && <option value="">{builderWords.notSet}</option>}
          {chosen !== '' && deployments.every(({ id }) => id !== chosen) && (
            <option value={chosen}>{builderWords.notOffered(chosen)}</option>
          )}
          {groups.map(
            ({ name, items }) =>
              items.length > 0 && (
                <optgroup key={name} label={name}>
                  {items.map((each) => (
                    <option key={each.id} value={each.id}>
                      {[each.name, sharedBy(each, words)].filter(Boolean).join(' · ')}
                    </option>
                  ))}
                </optgroup>
              ),
          )}
        </select>
      )}
    </FieldFrame>
  );
}
