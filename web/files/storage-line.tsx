import { useSyncExternalStore } from 'react'
import { NearlyFull } from '../shared/app/nearly-full.tsx'
import { useFiles } from './files-context.ts'

/** Below the list, so that nothing moves. */
export function StorageLine() {
  const { texts, words, manager } = useFiles()
  const account = useSyncExternalStore(manager.storage.subscribe, manager.storage.snapshot)
  return (
    <div className="storage-line" role="status">
      {account === null ? null : (
        <p className="small">
          <NearlyFull account={account} texts={texts.storage} words={words} />{' '}
          <a href="/settings">{texts.storage.show}</a>
        </p>
      )}
    </div>
  )
}
