import { useEffect, useId, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { type Deployment, readStarters } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { DeploymentIcon } from './deployments/deployment-icon.tsx';
import type { Said } from './said.ts';
import './beginning.css';

interface BeginningProps {
  readonly deployment: Deployment | undefined;
  readonly say: (said: Said) => void;
  readonly choose: (id: string) => void;
}

/** What is shown before the first question: who is there, and ways to begin. */
export function Beginning({ deployment, say, choose }: BeginningProps) {
  const words = useWords();
  const starters = useStarters(deployment);
  const { deployments } = usePage();
  if (deployment === undefined) {
    return (
      <div className="beginning">
        <p className="soft">{deployments.length === 0 ? words.noDeployments : words.chooseFirst}</p>
      </div>
    );
  }
  return (
    <div className="beginning">
      <DeploymentIcon deployment={deployment} size="large" />
      <h1>{words.emptyTitle}</h1>
      {deployment.description !== '' && (
        <p className="soft">
          <strong>{deployment.name}</strong> · {deployment.description}
        </p>
      )}
      <p className="soft">{starters.length > 0 ? words.emptyHint : words.emptyHintPlain}</p>
      <ul className="starters" aria-label={words.starters}>
        {starters.map((starter) => (
          <li key={starter}>
            <button type="button" className="starter" onClick={() => say({ text: starter, attachments: [] })}>
              {starter}
            </button>
          </li>
        ))}
      </ul>
      <Others {...{ deployment, choose }} />
    </div>
  );
}

const mostOthers = 5;

/**
 * Some of those one can talk to instead, applications first: who has never seen the page need not know where they are chosen.
 * What other users saved is not suggested.
 */
function Others({ deployment, choose }: { readonly deployment: Deployment; readonly choose: (id: string) => void }) {
  const words = useWords();
  const { deployments } = usePage();
  const label = useId();
  const others = deployments
    .filter(({ id, maker }) => id !== deployment.id && maker !== 'other')
    .sort((one, other) => Number(other.isApplication) - Number(one.isApplication))
    .slice(0, mostOthers);
  if (others.length === 0) return null;
  return (
    <section className="others" aria-labelledby={label}>
      <h2 id={label} className="overline">
        {words.talkToOthers}
      </h2>
      <ul className="row">
        {others.map((each) => (
          <li key={each.id}>
            <button type="button" className="button other" title={each.description || undefined} onClick={() => choose(each.id)}>
              <DeploymentIcon deployment={each} size="tiny" />
              {each.name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Empty until the service has told; then what it told, else one that suits every deployment. */
function useStarters(deployment: Deployment | undefined): readonly string[] {
  const words = useWords();
  const { service } = usePage();
  const [starters, setStarters] = useState<readonly string[]>([]);
  const { id, maker } = deployment ?? {};
  useEffect(() => {
    let isGone = false;
    setStarters([]);
    if (id !== undefined && maker !== undefined) {
      void readStarters(service, { id, maker }).then((told) => {
        if (!isGone) setStarters(told.length > 0 ? [...new Set(told)] : [words.defaultStarter]);
      });
    }
    return () => {
      isGone = true;
    };
  }, [id, maker, service, words]);
  return starters;
}
