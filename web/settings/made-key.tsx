import { Button } from '@mantine/core'
import type { NewApiKey } from '../../src/contract/keys.ts'
import { CodeBox } from '../shared/app/code-box.tsx'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { saveText } from '../shared/save-text.ts'
import { curlExample, programExample, sharexFile } from './key-examples.ts'
import { useSettings } from './settings-context.ts'

/** A new key, the only time that it can be seen, and what to do with it. */
export function MadeKeyView({ made, close }: { made: NewApiKey; close: () => void }) {
  const { data, texts } = useSettings()
  const { newKey } = texts
  const { publicUrl } = data
  const canUpload = made.scopes.includes('upload')
  return (
    <>
      <CodeBox label={newKey.key} text={made.api_key} />
      <h3>{newKey.examples}</h3>
      <details className="example" open>
        <summary>{newKey.curl}</summary>
        <CodeBox label={newKey.curl} text={curlExample(publicUrl, made)} />
      </details>
      <details className="example">
        <summary>{newKey.program}</summary>
        <p>{newKey.programWhy}</p>
        <CodeBox label={newKey.program} text={programExample(publicUrl, made)} />
      </details>
      {canUpload ? (
        <details className="example">
          <summary>{newKey.sharex}</summary>
          <p>{newKey.sharexWhy}</p>
          <Button
            leftSection={<Drawing of="download" />}
            onClick={() => saveText('holdfast.sxcu', sharexFile(publicUrl, made))}
            variant="default"
          >
            {newKey.sharexFile}
          </Button>
        </details>
      ) : null}
      <div className="dialog-actions">
        <Button onClick={close} variant="default">
          {newKey.done}
        </Button>
      </div>
    </>
  )
}
