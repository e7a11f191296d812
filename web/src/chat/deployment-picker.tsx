import { useId, useRef, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { moveFocus } from '../parts/move-focus.ts';
import { type Deployment, type Maker, makers } from '../service/deployments.ts';
import { sharedBy } from '../words/shared-by.ts';
import { useWords } from '../words/words.tsx';
import { DeploymentIcon } from './deployment-icon.tsx';
import { focusMessage } from './focus-message.ts';
import './picker.css';

interface DeploymentPickerProps {
  readonly deployments: readonly Deployment[];
  readonly chosen: Deployment | undefined;
  /** Shown where the chosen one is not offered any more. */
  readonly missing: string;
  readonly choose: (id: string) => void;
}

/** Whom the next question goes to, and a dialog to choose another. */
export function DeploymentPicker({ deployments, chosen, missing, choose }: DeploymentPickerProps) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState('');
  const title = useId();
  const open = (): void => {
    setQuery('');
    dialog.current?.showModal();
  };
  const pick = (id: string): void => {
    dialog.current?.close();
    choose(id);
    focusMessage();
  };
  const found = deployments.filter((each) => isAbout(each, query));
  return (
    <>
      <button type="button" className="picker" onClick={open} disabled={deployments.length === 0} aria-haspopup="dialog">
        {chosen !== undefined && <DeploymentIcon deployment={chosen} />}
        <span className="heard-only">{words.deployment}: </span>
        <span className="picker-name">{chosen?.name ?? (missing || words.chooseDeployment)}</span>
        <Icon name="down" />
      </button>
      <dialog
        {...{ ref: dialog, className: 'picker-dialog', 'aria-labelledby': title, closedby: 'any' }}
        onKeyDown={(event) => moveFocus(event, 'input, .option')}
      >
        <div className="picker-body">
          <h2 id={title}>{words.chooseDeployment}</h2>
          <div className="search">
            <Icon name="search" />
            <input
              {...{ type: 'search', value: query, placeholder: words.searchDeployments, 'aria-label': words.searchDeployments }}
              onChange={({ target }) => setQuery(target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || found[0] === undefined) return;
                event.preventDefault();
                pick(found[0].id);
              }}
            />
          </div>
          {found.length === 0 && <p className="soft">{words.noDeploymentFound(query)}</p>}
          {makers.map((maker) => (
            <Group
              key={maker}
              {...{ maker, chosen, pick }}
              deployments={found.filter((each) => each.maker === maker)}
              isHeaded={found.some((each) => each.maker !== 'operator')}
            />
          ))}
        </div>
      </dialog>
    </>
  );
}

interface GroupProps extends Pick<DeploymentPickerProps, 'deployments' | 'chosen'> {
  readonly maker: Maker;
  /** Where there is no other group, none needs a head. */
  readonly isHeaded: boolean;
  readonly pick: (id: string) => void;
}

function Group({ maker, deployments, chosen, isHeaded, pick }: GroupProps) {
  const words = useWords();
  const label = useId();
  const heads: Record<Maker, string> = { operator: words.ofTheService, self: words.yours, other: words.sharedByOthers };
  if (deployments.length === 0) return null;
  return (
    <section aria-labelledby={isHeaded ? label : undefined}>
      {isHeaded && (
        <h3 id={label} className="overline">
          {heads[maker]}
        </h3>
      )}
      <ul>
        {deployments.map((each) => (
          <li key={each.id}>
            <Option deployment={each} isChosen={each.id === chosen?.id} pick={pick} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface OptionProps {
  readonly deployment: Deployment;
  readonly isChosen: boolean;
  readonly pick: (id: string) => void;
}

function Option({ deployment, isChosen, pick }: OptionProps) {
  const words = useWords();
  const { id, name, version, description, isApplication, requiresConsent } = deployment;
  const sharer = sharedBy(deployment, words);
  return (
    <button type="button" className="option" aria-current={isChosen || undefined} onClick={() => pick(id)}>
      <DeploymentIcon deployment={deployment} />
      <span className="option-text">
        <span className="option-name">
          {name}
          {version !== undefined && <span className="soft">{version}</span>}
          {isApplication && <span className="tag">{words.application}</span>}
          {requiresConsent && (
            <span className="tag warm">
              <Icon name="shield" />
              {words.needsConsent}
            </span>
          )}
        </span>
        {description !== '' && <span className="soft small">{description}</span>}
        {sharer !== '' && <span className="option-sharer small">{sharer}</span>}
      </span>
    </button>
  );
}

function isAbout({ id, name, description }: Deployment, query: string): boolean {
  const all = `${id} ${name} ${description}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
