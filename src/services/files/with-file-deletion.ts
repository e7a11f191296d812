import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import { toDeploymentBucket } from '#domain/files/bucket.ts';
import { getOwnFolder } from '#domain/files/resource-rights.ts';
import type { StoredResources } from './stored-resources.ts';

/**
 * Wraps a store so that it deletes an application's own files after the application was deleted or moved. Code that uses the
 * store cannot omit this step. If a node crashes in between, the files remain in the owner's bucket, where the owner can list and
 * delete them.
 */
export function withFileDeletion(
  store: ApplicationStore,
  files: Pick<StoredResources, 'deleteAllIn'>,
  reportError: (message: string, error: unknown) => void,
): ApplicationStore {
  const deleteFiles = async (id: string): Promise<void> => {
    try {
      await files.deleteAllIn(getOwnFolder(id));
      // Location of these files in earlier versions of Parley.
      await files.deleteAllIn({ bucket: toDeploymentBucket(id), path: '' });
    } catch (error) {
      reportError(`could not delete the files of the deleted application ${id}`, error);
    }
  };
  return {
    find: (id) => store.find(id),
    findAll: (ids) => store.findAll(ids),
    put: (application, condition) => store.put(application, condition),
    list: (owner) => store.list(owner),
    listAccessible: (user) => store.listAccessible(user),
    listShared: (query) => store.listShared(query),
    listVersions: (id) => store.listVersions(id),
    findVersion: (id, version) => store.findVersion(id, version),
    async move(move) {
      const outcome = await store.move(move);
      if (outcome === 'moved' && move.from !== move.to) await deleteFiles(move.from);
      return outcome;
    },
    async delete(id, condition) {
      const outcome = await store.delete(id, condition);
      if (outcome === 'deleted') await deleteFiles(id);
      return outcome;
    },
  };
}
