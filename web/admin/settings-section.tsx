import { Loaded } from '../shared/loaded.tsx'
import { Part } from '../shared/part.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { useAdmin } from './admin-context.ts'
import { fetchSettings } from './client.ts'
import type { Setting } from './shapes.ts'

/** What this server runs with. */
export function SettingsSection() {
  const { settings: texts } = useAdmin().texts
  const { answered, again } = useAnswer(fetchSettings)
  return (
    <Part title={texts.title} why={texts.why}>
      <Loaded again={again} answered={answered}>
        {(settings) => (
          <ul className="plain-rows">
            {settings.map((setting) => (
              <SettingRow key={setting.name} setting={setting} />
            ))}
          </ul>
        )}
      </Loaded>
    </Part>
  )
}

function SettingRow({ setting }: { setting: Setting }) {
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
        <span className="small quiet" lang="en">
          {description}
        </span>
      </div>
    </li>
  )
}
