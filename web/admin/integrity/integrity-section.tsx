import { DAMAGED_FILE_STATES } from '../../../src/domain/account.ts'
import { Loaded } from '../../shared/app/loaded.tsx'
import { PageSection } from '../../shared/app/part.tsx'
import { useAnswer } from '../../shared/app/use-answer.ts'
import { useAdmin } from '../admin-context.ts'
import { fetchDamaged, fetchIntegrity } from '../client.ts'
import { askedChoice } from '../lists/address.ts'
import { Choices } from '../lists/choices.tsx'
import { PagedList } from '../lists/paged-list.tsx'
import { BackupFigures } from './backup-figures.tsx'
import { DamagedRow } from './damaged-row.tsx'
import { ScrubFigures } from './scrub-figures.tsx'

const state = askedChoice('state', DAMAGED_FILE_STATES)
const fetchPage = (page: number) => fetchDamaged(state, page)

/** Whether the stored bytes are sound, and which files have damaged ones. */
export function IntegritySection() {
  const { integrity } = useAdmin().texts
  const { answered, again } = useAnswer(fetchIntegrity)
  return (
    <>
      <PageSection title={integrity.title}>
        <Loaded again={again} answered={answered}>
          {(found) => <ScrubFigures {...found} />}
        </Loaded>
      </PageSection>
      <PageSection title={integrity.backups.title}>
        <Loaded again={again} answered={answered}>
          {(found) => <BackupFigures {...found} />}
        </Loaded>
      </PageSection>
      <PageSection title={integrity.files} why={integrity.filesWhy}>
        <Choices
          choices={DAMAGED_FILE_STATES}
          chosen={state}
          label={integrity.choose}
          name="state"
          texts={integrity.which}
        />
        <PagedList empty={integrity.empty[state]} fetchPage={fetchPage}>
          {(file) => <DamagedRow file={file} key={`${file.id} ${file.key}`} />}
        </PagedList>
      </PageSection>
    </>
  )
}
