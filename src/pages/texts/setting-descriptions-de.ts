import type { Translations } from '../../../web/admin/translated.tsx'

/** By environment variable. */
export const settingDescriptionsDe: Translations = {
  HOLDFAST_HOST: 'Die Adresse, an der der Server lauscht; 0.0.0.0 oder :: für alle Netzwerke der Maschine.',
  HOLDFAST_PORT: 'Der Port, an dem der Server lauscht; bei 0 wählt das System einen.',
  HOLDFAST_DATA_DIR: 'Der Ordner für Datenbank und Dateien. Fehlt er, wird er angelegt.',
  HOLDFAST_GROUP_READ:
    'Ob die Gruppe des Datenordners seinen Inhalt lesen darf, etwa eine Gruppe, die Sicherungen macht. Sonst darf es niemand.',
  HOLDFAST_SITE_NAME:
    'Wie die Website im Kopf ihrer Seiten, in Titeln und in Mails heißt. Ohne ihn Holdfast; die Verwaltung kann etwas anderes festlegen.',
  HOLDFAST_ACCENT:
    'Die Farbe der einen Aktion einer Seite und von Links. Ohne sie Petrol; die Verwaltung kann etwas anderes festlegen.',
  HOLDFAST_PUBLIC_URL:
    'Die Adresse, mit der Links beginnen. Ohne sie die Adresse, an der der Server lauscht.',
  HOLDFAST_CONTENT_URL:
    'Die Adresse, unter der die Bytes von Dateien ausgeliefert werden. Ohne sie die öffentliche Adresse.',
  HOLDFAST_DATABASE_URL:
    'Die PostgreSQL-Datenbank, die sich Knoten teilen. Ohne sie eine SQLite-Datenbank im Datenordner.',
  HOLDFAST_DATABASE_CONNECTIONS: 'Verbindungen, die dieser Knoten zu PostgreSQL halten darf.',
  HOLDFAST_DATABASE_PREPARES:
    'Ob PostgreSQL häufige Anweisungen einmal je Verbindung vorbereitet. Für PgBouncer vor 1.21 im Transaktionsmodus ausschalten.',
  HOLDFAST_S3_ENDPOINT: 'Der S3-kompatible Speicher für die Bytes. Ohne ihn liegen sie im Datenordner.',
  HOLDFAST_S3_BUCKET: 'Der Bucket. Fehlt er, wird er angelegt, wenn der Speicher das erlaubt.',
  HOLDFAST_S3_REGION: 'Die Region, für die Anfragen an den Speicher signiert werden.',
  HOLDFAST_S3_ACCESS_KEY_ID: 'Wer beim Speicher anfragt.',
  HOLDFAST_S3_SECRET_ACCESS_KEY: 'Das Geheimnis dieses Zugangsschlüssels.',
  HOLDFAST_S3_PATH_STYLE: 'Ob der Bucket im Pfad steht (https://host/bucket) statt im Hostnamen.',
  HOLDFAST_S3_REDIRECT:
    'Ob Downloads an den Speicher weitergeleitet werden, mit Adressen, die eine Minute lang gelten.',
  HOLDFAST_TRUSTED_PROXIES: 'Proxys, deren weitergereichte Header die Adresse der Besucher nennen.',
  HOLDFAST_MAX_FILE_SIZE: 'Die größte Datei.',
  HOLDFAST_STORAGE_LIMIT: 'Wie viel die Dateien eines Kontos zusammen belegen dürfen.',
  HOLDFAST_RATE_LIMIT: 'Anfragen, die ein API-Schlüssel in einer Stunde stellen darf.',
  HOLDFAST_ACCOUNT_RATE_FACTOR:
    'Wie viel Mal HOLDFAST_RATE_LIMIT alle API-Schlüssel eines Kontos zusammen in einer Stunde verwenden dürfen; 0: keine gemeinsame Grenze.',
  HOLDFAST_SESSION_RATE_LIMIT:
    'Anfragen, die ein Konto in einer Stunde aus Browsern stellen darf, in denen es angemeldet ist.',
  HOLDFAST_SIGN_UP: 'Wer auf der Website ein Konto anlegen darf: alle, wer eine Einladung hat, oder niemand.',
  HOLDFAST_SECRET:
    'Womit der Server signiert und verschlüsselt. Ohne es ein Geheimnis, das in der Datenbank liegt.',
  HOLDFAST_SECRET_FILE: 'Eine Datei, die stattdessen dieses Geheimnis enthält.',
  HOLDFAST_BACKUP:
    'Ein Ort für Sicherungen, die der Server dann von selbst macht. Ohne ihn macht nur „holdfast backup“ welche.',
  HOLDFAST_BACKUP_HOURS: 'Stunden vom Beginn einer Sicherung des Servers bis zur nächsten.',
  HOLDFAST_BACKUP_KEEP_DAILY: 'Von so vielen Tagen bleibt je die neueste Sicherung.',
  HOLDFAST_BACKUP_KEEP_WEEKLY: 'Von so vielen Wochen bleibt auch je die neueste Sicherung.',
  HOLDFAST_BACKUP_RATE:
    'Wie viel für eine Sicherung des Servers in der Sekunde höchstens kopiert wird. Ohne Angabe, so viel wie geht.',
  HOLDFAST_DRILL_DAYS:
    'Tage von einer Probe der Wiederherstellung, die der Server von selbst macht, bis zur nächsten; 0 für keine.',
  HOLDFAST_DRILL_FOLDER:
    'Ein Ordner mit Platz für die ganze Sicherung, für solche Proben. Ohne ihn der für temporäre Dateien des Systems.',
  HOLDFAST_BACKUP_PASSPHRASE_FILE:
    'Eine Datei mit der Passphrase, mit der Sicherungen verschlüsselt werden. Ohne sie werden sie es nicht.',
  HOLDFAST_BACKUP_S3_ACCESS_KEY_ID:
    'Wer beim Speicher einer Sicherung anfragt. Ohne Angabe der Schlüssel des Speichers für die Bytes.',
  HOLDFAST_BACKUP_S3_SECRET_ACCESS_KEY: 'Das Geheimnis dieses Zugangsschlüssels.',
  HOLDFAST_BACKUP_S3_REGION:
    'Die Region, für die Anfragen an den Speicher von HOLDFAST_BACKUP signiert werden.',
  HOLDFAST_BACKUP_S3_PATH_STYLE: 'Ob der Bucket von HOLDFAST_BACKUP im Pfad steht statt im Hostnamen.',
  HOLDFAST_MIRROR:
    'Ein zweiter Speicher, der von jedem Inhalt eine Kopie bekommt und aus dem beschädigte zurückgeholt werden. Ohne Angabe gibt es keinen.',
  HOLDFAST_MIRROR_RATE:
    'Wie viel in der Sekunde höchstens in den Spiegel kopiert wird oder zurück, von einem Knoten zur Zeit.',
  HOLDFAST_MIRROR_SCRUB_DAYS:
    'Tage, innerhalb derer alle Kopien im Spiegel nachgelesen werden, mit HOLDFAST_SCRUB_RATE, und neu gemacht, wo sie beschädigt sind; 0 für nie. Ohne Angabe 30 für einen Ordner und nie für S3.',
  HOLDFAST_MIRROR_S3_ACCESS_KEY_ID:
    'Wer beim Speicher des Spiegels anfragt. Ohne Angabe der Schlüssel des Speichers für die Bytes.',
  HOLDFAST_MIRROR_S3_SECRET_ACCESS_KEY: 'Das Geheimnis dieses Zugangsschlüssels.',
  HOLDFAST_MIRROR_S3_REGION: 'Die Region, für die Anfragen an den Speicher des Spiegels signiert werden.',
  HOLDFAST_MIRROR_S3_PATH_STYLE: 'Ob der Bucket des Spiegels im Pfad steht statt im Hostnamen.',
  HOLDFAST_OIDC_ISSUER:
    'Ein OpenID-Connect-Server, dessen Benutzer sich hier anmelden dürfen, mit seiner Issuer-Adresse.',
  HOLDFAST_OIDC_CLIENT_ID: 'Wie jener Server diesen nennt.',
  HOLDFAST_OIDC_CLIENT_SECRET: 'Das Geheimnis dieses Clients.',
  HOLDFAST_OIDC_NAME: 'Wie jener Server genannt wird: Es steht auf der Schaltfläche, die dorthin führt.',
  HOLDFAST_SMTP_URL:
    'Der Server, dem Mails übergeben werden. Ohne ihn werden keine gesendet, und alles andere geht.',
  HOLDFAST_MAIL_FROM: 'Von wem Mails sind.',
  HOLDFAST_UPLOAD_EXPIRES:
    'Stunden ohne ein Byte, nach denen ein unfertiger fortsetzbarer Upload aufgegeben wird; einer, von dem noch kein Byte kam, wartet eine Stunde.',
  HOLDFAST_GUEST_UPLOADS: 'Ob alle ohne Konto hochladen dürfen.',
  HOLDFAST_GUEST_RATE_LIMIT: 'Uploads, die Gäste von einer Adresse in einer Stunde machen dürfen.',
  HOLDFAST_GUEST_HOURLY_SIZE: 'Wie viel Gäste von einer Adresse in einer Stunde hochladen dürfen.',
  HOLDFAST_GUEST_STORAGE: 'Wie viel die Dateien aller Gäste zusammen belegen dürfen.',
  HOLDFAST_MIN_FREE_SPACE:
    'Uploads enden, wenn auf der Platte des Datenordners weniger Platz ist als das, falls Dateien oder SQLite darauf liegen; die von Gästen enden beim Doppelten, wo Dateien liegen.',
  HOLDFAST_LINK_ADDRESSES:
    'Ob das Protokoll eines Links, das sein Besitzer liest, sagt, von welchen Adressen er verwendet wurde. 90 Tage lang aufbewahrt.',
  HOLDFAST_WEBHOOK_PRIVATE_NETWORKS:
    'Ob Webhooks, die alle mit einem Konto anlegen dürfen, auch in private Netzwerke und an diese Maschine gesendet werden.',
  HOLDFAST_INACTIVE_DAYS: 'Tage ohne Aufruf oder Download, nach denen eine Datei gelöscht wird; 0 für nie.',
  HOLDFAST_ACCOUNT_INACTIVE_DAYS:
    'Dieselben Tage für Dateien von Konten, wenn ein Administrator einem Konto keine eigenen gibt; 0 für nie. Ohne Angabe die von HOLDFAST_INACTIVE_DAYS.',
  HOLDFAST_BIN_DAYS: 'Tage, nach denen der Inhalt des Papierkorbs endgültig gelöscht wird.',
  HOLDFAST_MAX_FOLDER_DEPTH: 'Wie viele Ebenen von Ordnern es geben darf.',
  HOLDFAST_SCRUB_DAYS:
    'Tage, innerhalb derer alle gespeicherten Bytes nachgelesen und mit ihren Hashes verglichen werden; 0 für nie. Ohne Angabe 30 für einen Datenordner und nie für S3.',
  HOLDFAST_SCRUB_RATE: 'Wie viel davon in der Sekunde höchstens gelesen wird, auf einem Knoten zur Zeit.',
  HOLDFAST_VERIFY_READS:
    'Ob ganze Downloads unterwegs gehasht und vor dem letzten Byte abgebrochen werden, wenn ihre Bytes nicht die gespeicherten sind.',
  HOLDFAST_SHUTDOWN_GRACE:
    'Sekunden, die laufende Uploads noch dauern dürfen, wenn der Server anhalten soll. Ein Dienstverwalter muss länger warten.',
  HOLDFAST_THUMBNAILS:
    'Ob Bilder Vorschaubilder bekommen und, wo ffmpeg installiert ist, Videos Standbilder.',
  HOLDFAST_METRICS: 'Ob /metrics Prometheus sagt, wie es diesem Knoten geht.',
  HOLDFAST_METRICS_TOKEN:
    'Was Prometheus als Bearer-Token senden muss. Ohne es liest jeder /metrics, der es erreicht.',
  HOLDFAST_LOG_DIR:
    'Der Ordner für das Zugriffsprotokoll und für das Protokoll abgelehnter Anmeldungen und Schlüssel, das fail2ban liest. Ohne ihn wird keines geschrieben.',
  HOLDFAST_ACCESS_LOG_DAYS:
    'Tage, nach denen ein Tag des Zugriffsprotokolls gelöscht wird; mit 0 wird keines geschrieben.',
  HOLDFAST_ACCESS_LOG_ANONYMOUS:
    'Ob im Zugriffsprotokoll Netze (/24, /48) statt Adressen stehen und weder Konten noch Programme.',
  HOLDFAST_LOG_LEVEL: 'Die unwichtigsten Zeilen, die das Protokoll noch zeigt.',
}
