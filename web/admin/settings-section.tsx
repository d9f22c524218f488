import type { SettingInForce } from '../../src/contract/operations.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { useAdmin } from './admin-context.ts'
import { fetchSettings } from './client.ts'
import { Translated } from './translated.tsx'

/** What this server runs with. */
export function AdminSettings() {
  const { settings: texts } = useAdmin().texts
  const { answered, again } = useAnswer(fetchSettings)
  return (
    <PageSection title={texts.title} why={texts.why}>
      <Loaded again={again} answered={answered}>
        {(settings) => (
          <ul className="plain-rows">
            {settings.map((setting) => (
              <SettingRow key={setting.name} setting={setting} />
            ))}
          </ul>
        )}
      </Loaded>
    </PageSection>
  )
}

function SettingRow({ setting }: { setting: SettingInForce }) {
  const { settings: texts } = useAdmin().texts
  const { name, value, is_default: isDefault, is_secret: isSecret, description } = setting
  const shown = value === '' ? texts.empty : isSecret ? texts.secret : value
  return (
    <li>
      <div className="plain-words">
        <span className="row-name">
          <code>{name}</code>
          {isDefault ? null : <span className="badge small">{texts.set}</span>}
        </span>
        <span className={value === '' || isSecret ? 'quiet' : 'setting-value'}>{shown}</span>
        <Translated className="small quiet" into={texts.descriptions[name]} text={description} />
      </div>
    </li>
  )
}
