from django.core.management.base import BaseCommand

from promise.auth import add_token


class Command(BaseCommand):
    help = "Gives an owner one more token, and prints it. It is stored hashed, so it is shown only this once."

    def add_arguments(self, parser):
        parser.add_argument("owner")

    def handle(self, *args, owner, **options):
        self.stdout.write(add_token(owner))
