"""The shipped roles: who gets which permissions and may see which classes."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission

from corpus import ceilings, roles
from corpus.scope import EVERYTHING, NOTHING

pytestmark = pytest.mark.django_db


def _labels(name):
    rows = Permission.objects.filter(group__name=name).values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in rows}


@pytest.mark.parametrize("name", roles.CEILINGS)
def test_a_fresh_database_has_each_role_with_every_permission_it_names(name):
    assert _labels(name) == set(roles.PERMISSIONS[name])


def test_librarians_and_administrators_see_every_class_and_askers_only_open_ones(librarian, asker, expert):
    assert ceilings.of(librarian) == EVERYTHING
    for person in (asker, expert):
        assert ceilings.of(person).license_classes == roles.CEILINGS["asker"]
        assert ceilings.of(person).buckets is None


def test_nobody_may_add_change_or_delete_a_rights_decision():
    granted = Permission.objects.filter(group__isnull=False, content_type__model="rightsdecision")

    assert set(granted.values_list("codename", flat=True)) == {"view_rightsdecision"}


def test_what_an_administrator_took_from_a_role_stays_taken_after_the_next_migration():
    group = Group.objects.get(name="librarian")
    group.permissions.clear()
    group.ceiling.license_classes = []
    group.ceiling.save()

    roles.create_missing_roles(sender=apps.get_app_config("corpus"))

    assert group.permissions.count() == 0
    assert Group.objects.get(name="librarian").ceiling.license_classes == []


def test_a_group_without_a_ceiling_sees_nothing(librarian):
    librarian.groups.get().ceiling.delete()

    assert ceilings.of(librarian) == NOTHING
