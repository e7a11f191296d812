import type { JsonObject } from '#base/json.ts';
import { toHash } from '../page/place.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { useBuilderWords } from './builder-words.ts';
import { valueAt } from './draft.ts';
import type { BuilderForm } from './form.ts';
import { ListEditor } from './list-editor.tsx';

const roles = { type: 'array', items: { type: 'string' } };

interface ShareSectionProps {
  readonly entry: JsonObject;
  readonly form: BuilderForm;
  readonly id: string | undefined;
}

/** Who may use an application besides its maker, and the link for them. */
export function ShareSection({ entry, form, id }: ShareSectionProps) {
  const words = useBuilderWords();
  const link = id === undefined ? '' : new URL(toHash({ at: 'new', deployment: id }), document.baseURI).href;
  return (
    <section className="builder-section" aria-label={words.sharing}>
      <h2>{words.sharing}</h2>
      <ListEditor
        {...{ form, schema: roles, item: roles.items, isRequired: false }}
        label={words.role}
        hint={words.sharingHint}
        path={['userRoles']}
        value={valueAt(entry, ['userRoles'])}
      />
      {link !== '' && (
        <p className="builder-link">
          <span className="soft small">{words.shareLink}</span>
          <code>{link}</code>
          <CopyButton text={() => link} label={words.shareLink} />
        </p>
      )}
    </section>
  );
}
