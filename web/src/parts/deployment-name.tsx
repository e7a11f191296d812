import { usePage } from '../page/page.tsx';

/** The name of a deployment, its id in small type below; of one that is not open to the user, what its id ends with. */
export function DeploymentName({ id }: { readonly id: string }) {
  const { deployments } = usePage();
  const deployment = deployments.find((option) => option.id === id);
  const name =
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
