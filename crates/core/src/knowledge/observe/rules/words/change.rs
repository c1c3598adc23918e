//! Phrases with which a user reports a change.

/// First words of a clause that reports a change.
pub(crate) const CHANGES: &str = "\
we switched from | we switched to | we've switched | we have switched | we migrated from | we migrated to | we've migrated | we have migrated | we moved from | we moved to | we've moved to | we've moved from | we upgraded to | we upgraded from | we've upgraded | we have upgraded | i upgraded | i've upgraded | i switched from | i switched to | we replaced | we've replaced | we have replaced | we no longer use | we stopped using | we don't use | we don't have
hemos migrado | migramos de | migramos a | hemos cambiado de | cambiamos de | hemos actualizado | ya no usamos | hemos reemplazado | reemplazamos | hemos sustituido
nous avons migré | on a migré | on est passé | on est passés | nous sommes passés | nous avons remplacé | on a remplacé | on n'utilise plus | nous n'utilisons plus | nous avons mis à jour
migramos para | migramos de | migrámos para | mudamos para | mudamos de | mudámos para | trocamos | trocámos | já não usamos | não usamos mais | substituímos | atualizamos para | atualizámos para
мы перешли | мы заменили | мы обновили | мы обновились | мы больше не используем | мы мигрировали | мы переехали
";

/// Phrases that begin the same but refer to the current code.
pub(crate) const NOT: &str = "\
we don't use it | we don't use that | we don't use this | we don't use the | we replaced it | we replaced that | we moved to the next | we moved to a | we moved from the | we no longer use it | we no longer use that | we no longer use this
";

/// Words that "we don't use …" needs to be a change.
pub(crate) const ANY_MORE: &str = "\
anymore | any more | any longer
";

/// German puts the verb at the end. First part: the start of the clause.
pub(crate) const GERMAN: &str = "\
wir haben | wir sind | ich habe | wir benutzen | wir verwenden | wir nutzen
";

/// Second part: the verb at the end.
pub(crate) const GERMAN_ENDS: &str = "\
umgestellt | umgestiegen | migriert | ersetzt | gewechselt | aktualisiert | nicht mehr
";

/// The same for languages without spaces.
pub(crate) const DENSE: &str = "\
に移行しました | へ移行しました | に切り替えました | に置き換えました | はもう使っていません | にアップグレードしました
我们已经换成 | 我们换成了 | 我們換成了 | 已迁移到 | 已经迁移到 | 我们迁移到 | 我们不再使用 | 我們不再使用 | 我们升级到 | 我们已经升级到 | 已经切换到
";

/// Verbs with which an agent reports a change of version.
pub(crate) const RAISED: &str = "\
upgraded | updated | bumped | upgrading | downgraded | migrated | moved | raised | switched | pinned
aktualisiert | angehoben | gehoben | umgestellt | migriert
actualizado | actualicé | actualizada | migrado | subido
mis à jour | mise à jour | migré | passé
atualizado | atualizada | atualizei | migrado
обновлён | обновлен | обновил | обновлена | обновлено | поднял
アップグレード | 更新 | 升级 | 升級
";

/// Pairs of words around an old and a new version.
pub(crate) const FROM_TO: &[(&str, &str)] =
    &[("from", "to"), ("von", "auf"), ("de", "a"), ("de", "à"), ("de", "para"), ("с", "до"), ("с", "на")];

/// Words of a statement that imply an earlier state.
pub(crate) const NOW: &str = "\
now | no longer | anymore | any more | instead of | since this morning | since yesterday | since monday
jetzt | nicht mehr | ab sofort | ahora | ya no | maintenant | désormais | agora | já não | теперь | больше не
";
