import { Icon } from '../parts/icon.tsx';
import type { Deployment } from '../service/deployments.ts';
import { sharedBy } from '../words/shared-by.ts';
import { useLanguage } from '../words/words.tsx';
import { DeploymentIcon } from './deployment-icon.tsx';
import { usePickerWords } from './picker-words.ts';
import { versionsOf } from './version-families.ts';

interface DeploymentOptionProps {
  /** The one that is offered, then other versions of it. */
  readonly family: readonly [Deployment, ...Deployment[]];
  readonly isChosen: boolean;
  readonly isFavourite: boolean;
  readonly pick: (id: string) => void;
  readonly favour: () => void;
}

/** One that may be chosen: who it is, what it does, what it costs and reads, and whether it stands first. */
export function DeploymentOption({ family, isChosen, isFavourite, pick, favour }: DeploymentOptionProps) {
  const { words, language } = useLanguage();
  const [deployment] = family;
  const own = usePickerWords();
  const { id, name, version, description, isApplication, requiresConsent, pricing, contextTokens } = deployment;
  const sharer = sharedBy(deployment, words);
  const usd = (amount: number): string =>
    (amount * 1e6).toLocaleString(language, { style: 'currency', currency: 'USD', maximumFractionDigits: 2 });
  const facts = [
    pricing !== undefined &&
      pricing.prompt + pricing.completion > 0 &&
      own.pricePerMillion(usd(pricing.prompt), usd(pricing.completion)),
    contextTokens !== undefined && own.readsTokens(contextTokens.toLocaleString(language)),
  ].filter((fact) => fact !== false);
  const starName = isFavourite ? own.unfavour(name) : own.favour(name);
  return (
    <li className="option-row">
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
                {own.needsConsent}
              </span>
            )}
          </span>
          {description !== '' && <span className="soft small">{description}</span>}
          {facts.length > 0 && <span className="soft small">{facts.join(' · ')}</span>}
          {sharer !== '' && <span className="option-sharer small">{sharer}</span>}
        </span>
      </button>
      <button
        {...{ type: 'button', className: 'icon-button star', 'aria-label': starName, title: starName }}
        data-favourite={isFavourite || undefined}
        onClick={favour}
      >
        <Icon name="star" />
      </button>
      {family.length > 1 && <Versions {...{ family, pick }} />}
    </li>
  );
}

/** All versions of what is offered, each to choose. */
function Versions({ family, pick }: Pick<DeploymentOptionProps, 'family' | 'pick'>) {
  const own = usePickerWords();
  const [shown] = family;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as part of a form
    <div className="option-versions small" role="group" aria-label={own.versionsOf(shown.name)}>
      {versionsOf(family).map(({ id, version }) => (
        <button
          key={id}
          {...{ type: 'button', className: 'option-version', onClick: () => pick(id) }}
          aria-current={id === shown.id || undefined}
        >
          {version}
        </button>
      ))}
    </div>
  );
}
