import { usePage } from '../shell/page.tsx';

interface DeploymentNameProps {
  readonly id: string;
  /** Name of a deployment that may not be available to the user. */
  readonly name?: string | undefined;
}

/** The name of a deployment with its ID in small type. A deployment without a known name shows the end of its ID instead. */
export function DeploymentName({ id, name: knownName }: DeploymentNameProps) {
  const { deployments } = usePage();
  const deployment = deployments.find((option) => option.id === id);
  const name =
    knownName ??
    deployment?.name ??
    id
      .split('/')
      .slice(id.startsWith('applications/') ? 2 : 0)
      .join('/');
  return (
    <span className="deployment-name">
      {name}
      {name !== id && <span className="soft small">{id}</span>}
    </span>
  );
}
