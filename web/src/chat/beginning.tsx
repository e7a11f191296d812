import { useEffect, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { type Deployment, readStarters } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { DeploymentIcon } from './deployment-icon.tsx';
import type { Said } from './said.ts';

/** What is shown before the first question: who is there, and ways to begin. */
export function Beginning({
  deployment,
  say,
}: {
  readonly deployment: Deployment | undefined;
  readonly say: (said: Said) => void;
}) {
  const words = useWords();
  const starters = useStarters(deployment?.id);
  if (deployment === undefined) {
    return (
      <div className="beginning">
        <p className="soft">{words.noDeployments}</p>
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
    </div>
  );
}

/** Empty until the service has told; then what it told, else one that suits every deployment. */
function useStarters(id: string | undefined): readonly string[] {
  const words = useWords();
  const { service } = usePage();
  const [starters, setStarters] = useState<readonly string[]>([]);
  useEffect(() => {
    let isGone = false;
    setStarters([]);
    if (id !== undefined) {
      void readStarters(service, id).then((told) => {
        if (!isGone) setStarters(told.length > 0 ? [...new Set(told)] : [words.defaultStarter]);
      });
    }
    return () => {
      isGone = true;
    };
  }, [id, service, words]);
  return starters;
}
